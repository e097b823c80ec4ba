#include "samples.hpp"

#include <algorithm>

namespace dream::tests
{

namespace
{

using layout::Ref;
using layout::Span;

template <class R>
void add(std::vector<R>& side, Span& span, std::vector<R> records)
{
    span = {static_cast<std::uint32_t>(side.size()), static_cast<std::uint32_t>(records.size())};
    side.insert(side.end(), records.begin(), records.end());
}

class Random
{
public:
    explicit Random(std::mt19937_64& engine)
        : engine_(engine)
    {
    }

    // mt19937_64's numbers are the same everywhere; std::uniform_int_distribution's are not.
    std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }
    std::uint64_t wide() { return below(4) == 0 ? layout::unbounded_size - below(2) : engine_(); }
    Ref ref(std::size_t count) { return below(count + 1); }
    Ref some(std::size_t count) { return below(count) + 1; }

private:
    std::mt19937_64& engine_;
};

} // namespace

layout::Blob sample_blob(const layout::Program* stamp)
{
    std::mt19937_64 random(20261130);
    layout::Blob blob = random_blob(random, stamp);
    while (blob.arguments.empty() || blob.descriptor_ranges.empty() || blob.sub_object_ranges.empty() ||
           blob.type_names.size() < 2 || blob.hashed_strings.empty() || blob.entry_points.size() < 2 ||
           blob.resources.size() < 4 || blob.parameters.empty() || blob.category_order.empty() ||
           blob.offsets.empty() || blob.type_fields.empty())
        blob = random_blob(random, stamp);
    return blob;
}

layout::Blob random_blob(std::mt19937_64& engine, const layout::Program* stamp)
{
    Random random(engine);
    layout::Blob b;
    layout::Program& p = b.program;
    p.api_version = random.below(3);
    p.category_count = 1 + random.below(40);
    p.type_kind_count = 1 + random.below(30);
    p.target_count = 1 + random.below(40);
    p.stage_count = 1 + random.below(20);
    p.option_count = random.below(200);
    for (std::uint8_t& byte : p.header_digest)
        byte = static_cast<std::uint8_t>(random.below(256));
    if (stamp)
        p = *stamp;
    const char* const words[] = {"main", "", "größe", "vector<float,4>", "a\n\"b\\", "\xf0\x9f\x8e\xb2", "x"};
    for (const char* word : words)
        b.strings.emplace_back(word);
    for (std::uint32_t i = 0; i < random.below(6); ++i)
        b.strings.push_back("name" + std::to_string(i));
    const std::size_t strings = b.strings.size();
    const std::size_t types = 1 + random.below(6);
    const std::size_t type_layouts = 1 + random.below(6);
    const std::size_t var_layouts = 1 + random.below(6);
    const std::size_t variables = 1 + random.below(6);
    p.build_tag = random.ref(strings);
    p.recorder_version = random.below(9);
    p.target = random.below(p.target_count);
    p.matrix_mode = random.below(3);
    p.flags = random.below(2);
    p.specialization_count = stamp ? 0 : random.below(2);
    p.globals_type_layout = random.ref(type_layouts);
    p.globals_var_layout = random.ref(var_layouts);
    p.global_constant_buffer_binding = random.wide();
    p.global_constant_buffer_size = random.wide();
    p.bindless_space = static_cast<std::int64_t>(random.wide());

    const auto parameters = [&]
    {
        std::vector<Ref> refs(random.below(4));
        std::ranges::generate(refs, [&] { return random.some(var_layouts); });
        return refs;
    };
    const auto attributes = [&](Span& span)
    {
        std::vector<layout::Attribute> made(random.below(3));
        for (layout::Attribute& a : made)
        {
            a.name = random.ref(strings);
            std::vector<layout::Argument> arguments(random.below(3));
            for (layout::Argument& g : arguments)
                g = {random.below(4), static_cast<std::int32_t>(random.wide()), random.below(1u << 31),
                     random.ref(strings), random.ref(types)};
            add(b.arguments, a.arguments, arguments);
        }
        add(b.attributes, span, made);
    };

    add(b.parameters, p.parameters, parameters());
    for (std::size_t i = 0; i < types; ++i)
    {
        layout::Type t;
        t.kind = random.below(p.type_kind_count);
        t.scalar_type = random.below(19);
        t.name = random.ref(strings);
        t.full_name = random.ref(strings);
        t.element_type = random.ref(types);
        t.row_count = random.below(5);
        t.column_count = random.below(5);
        t.resource_shape = random.below(0x1ff);
        t.resource_access = random.below(8);
        t.resource_result_type = random.ref(types);
        t.element_count = random.wide();
        t.specialized_element_count = random.wide();
        t.default_layout = random.ref(type_layouts);
        std::vector<Ref> fields(random.below(4));
        std::ranges::generate(fields, [&] { return random.some(variables); });
        add(b.type_fields, t.fields, fields);
        attributes(t.attributes);
        b.types.push_back(t);
    }
    for (std::size_t i = 0; i < type_layouts; ++i)
    {
        layout::TypeLayout t;
        t.type = random.ref(types);
        t.kind = random.below(p.type_kind_count);
        t.parameter_category = random.below(p.category_count);
        t.matrix_mode = random.below(3);
        t.generic_param_index = static_cast<std::int32_t>(random.below(3)) - 1;
        t.element_type_layout = random.ref(type_layouts);
        t.element_var_layout = random.ref(var_layouts);
        t.container_var_layout = random.ref(var_layouts);
        t.explicit_counter = random.ref(var_layouts);
        t.explicit_counter_binding_range_offset = static_cast<std::int64_t>(random.wide());
        std::vector<std::uint32_t> order(random.below(4));
        std::ranges::generate(order, [&] { return random.below(p.category_count); });
        add(b.category_order, t.category_order, order);
        std::vector<layout::Resource> resources;
        for (std::uint32_t c = 0; c < p.category_count; ++c)
            if (random.below(6) == 0)
                resources.push_back(
                    {c, static_cast<std::int32_t>(random.below(65)), random.wide(), random.wide(), random.wide()});
        add(b.resources, t.resources, resources);
        std::vector<layout::Field> fields(random.below(4));
        for (layout::Field& f : fields)
            f = {random.some(var_layouts), static_cast<std::int64_t>(random.wide())};
        add(b.fields, t.fields, fields);
        std::vector<layout::BindingRange> ranges(random.below(4));
        for (layout::BindingRange& r : ranges)
            r = {random.below(0x200), random.below(2), random.wide(), random.ref(type_layouts), random.ref(variables),
                 random.below(44), static_cast<std::int64_t>(random.wide()),
                 static_cast<std::int64_t>(random.wide()), static_cast<std::int64_t>(random.wide())};
        add(b.binding_ranges, t.binding_ranges, ranges);
        std::vector<layout::DescriptorSet> sets(random.below(3));
        for (layout::DescriptorSet& s : sets)
        {
            s.space_offset = random.wide();
            std::vector<layout::DescriptorRange> in_set(random.below(3));
            for (layout::DescriptorRange& r : in_set)
                r = {random.wide(), random.wide(), random.below(0x200), random.below(p.category_count)};
            add(b.descriptor_ranges, s.ranges, in_set);
        }
        add(b.descriptor_sets, t.descriptor_sets, sets);
        std::vector<layout::SubObjectRange> subs(random.below(3));
        for (layout::SubObjectRange& s : subs)
            s = {static_cast<std::int64_t>(random.wide()), random.wide(), random.ref(var_layouts)};
        add(b.sub_object_ranges, t.sub_object_ranges, subs);
        b.type_layouts.push_back(t);
    }
    for (std::size_t i = 0; i < var_layouts; ++i)
    {
        layout::VarLayout v;
        v.variable = random.ref(variables);
        v.type_layout = random.ref(type_layouts);
        v.stage = random.below(p.stage_count);
        v.image_format = random.below(44);
        v.semantic_name = random.ref(strings);
        v.binding_index = random.below(1u << 31);
        v.binding_space = random.below(9);
        v.semantic_index = random.wide();
        std::vector<layout::Offset> offsets;
        for (std::uint32_t c = 0; c < p.category_count; ++c)
            if (random.below(6) == 0)
                offsets.push_back({c, random.wide(), random.wide()});
        add(b.offsets, v.offsets, offsets);
        b.var_layouts.push_back(v);
    }
    for (std::size_t i = 0; i < variables; ++i)
    {
        layout::Variable v{random.ref(strings), random.ref(strings), random.ref(types), random.below(1u << 11), {}};
        attributes(v.attributes);
        b.variables.push_back(v);
    }
    for (std::uint32_t i = 0; i < random.below(4); ++i)
    {
        layout::EntryPoint e;
        e.name = stamp ? i + 1 : random.some(strings);
        e.name_override = random.ref(strings);
        e.stage = random.below(p.stage_count);
        e.flags = random.below(8);
        for (std::uint64_t& size : e.thread_group_size)
            size = random.below(1025);
        e.wave_size = random.below(65);
        e.var_layout = random.ref(var_layouts);
        e.result_var_layout = random.ref(var_layouts);
        add(b.parameters, e.parameters, parameters());
        attributes(e.attributes);
        if ((e.flags & layout::code_recorded) != 0)
        {
            e.code_size = random.below(1u << 20);
            for (std::uint8_t& byte : e.code_digest)
                byte = static_cast<std::uint8_t>(random.below(256));
        }
        b.entry_points.push_back(e);
    }
    std::vector<layout::StringRef> sorted;
    for (std::size_t i = 0; i < strings; ++i)
        if (random.below(2) == 0)
            sorted.push_back(static_cast<layout::StringRef>(i + 1));
    std::ranges::sort(sorted, {}, [&](layout::StringRef ref) -> const std::string& { return b.strings[ref - 1]; });
    for (const layout::StringRef name : sorted)
        b.type_names.push_back({name, random.some(types)});
    for (std::uint32_t i = 0; i < random.below(3); ++i)
        b.hashed_strings.push_back({std::string("\0\xff text", 7) + std::to_string(i), random.below(1u << 31)});
    return b;
}

std::vector<std::vector<std::byte>> give_code(layout::Blob& blob, std::mt19937_64& engine)
{
    Random random(engine);
    std::vector<std::vector<std::byte>> codes;
    for (layout::EntryPoint& entry : blob.entry_points)
    {
        std::vector<std::byte>& code = codes.emplace_back(random.below(200));
        std::ranges::generate(code, [&] { return static_cast<std::byte>(random.below(256)); });
        entry.flags |= layout::code_recorded;
        entry.code_size = code.size();
        entry.code_digest = layout::sha256(code);
    }
    return codes;
}

void reseal(std::vector<std::byte>& file)
{
    constexpr std::size_t size_offset = 16;
    constexpr std::size_t digest_offset = 24;
    constexpr std::size_t header_size = 64;
    if (file.size() < header_size)
        return;
    for (std::size_t i = 0; i < 8; ++i)
        file[size_offset + i] = static_cast<std::byte>(file.size() >> (8 * i));
    std::fill_n(file.begin() + digest_offset, 32, std::byte{0});
    const layout::Digest digest = layout::sha256(file);
    std::ranges::copy(std::as_bytes(std::span(digest)), file.begin() + digest_offset);
}

} // namespace dream::tests
