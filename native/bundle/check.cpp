// The rules that hold inside a bundle, apart from how it was read.
#include "layout/text.hpp"
#include "wire.hpp"

#include <algorithm>
#include <compare>
#include <functional>
#include <set>
#include <tuple>

namespace dream::bundle::wire
{

std::string name_of(Kind kind)
{
    std::string name;
    for (const char letter : kind)
        name += letter >= 0x20 && letter < 0x7f ? letter : '?';
    return name;
}

namespace
{

namespace text = layout::text;

constexpr std::uint32_t last_stage = 15; // SlangStage
constexpr std::uint32_t known_targets = (1u << (last_target + 1)) - (1u << first_target);

class Checker
{
public:
    Checker(const Bundle& bundle, std::size_t payload_count)
        : bundle_(bundle)
        , payload_count_(payload_count)
        , is_used_(bundle.strings.size())
    {
    }

    std::optional<Problem> run()
    {
        strings();
        producer_and_inputs();
        groups();
        codes();
        pipelines();
        profiles_and_allowances();
        if (!problem_)
            partitions();
        // What follows reads the parts of owners, which are inside their tables only now.
        if (!problem_)
            order_in_groups();
        if (!problem_)
            order_in_pipelines();
        if (!problem_)
            payloads();
        // A later version may use strings and payloads that we do not know of.
        if (!problem_ && bundle_.minor == format_minor)
            everything_is_used();
        return std::move(problem_);
    }

private:
    template <class... Parts>
    void report(const Parts&... parts)
    {
        if (!problem_)
            problem_ = Problem{text::join(parts...), table_, index_};
    }

    template <class R, class F>
    void each(Kind table, const std::vector<R>& records, F&& f)
    {
        table_ = table;
        for (index_ = 0; index_ < records.size() && !problem_; ++index_)
            f(records[index_]);
    }

    void reference(std::string_view what, Ref ref, std::size_t count, bool null_allowed = false)
    {
        if (ref > count)
            report(what, " names record ", ref, ", and there are ", count);
        else if (ref == 0 && !null_allowed)
            report(what, " must not be null");
    }
    void entry(std::string_view what, Ref ref, bool null_allowed = false)
    {
        reference(what, ref, bundle_.entries.size(), null_allowed);
    }
    void string(std::string_view what, StringRef ref, bool null_allowed = false)
    {
        reference(what, ref, bundle_.strings.size(), null_allowed);
        if (!problem_ && ref != 0)
            is_used_[ref - 1] = true;
    }
    void between(std::string_view what, std::uint32_t value, std::uint32_t first, std::uint32_t last)
    {
        if (value < first || value > last)
            report(what, " is ", value, "; expected ", first, " to ", last);
    }
    void target(std::uint32_t value) { between("target", value, first_target, last_target); }

    // Strings ascend, so that references compare as their texts do.
    void strings()
    {
        const std::string* before = nullptr;
        each(
            wire::strings,
            bundle_.strings,
            [&](const std::string& value)
            {
                if (const auto at = text::first_invalid_utf8(value))
                    report("string is not UTF-8 at its byte ", *at);
                else if (value.find('\0') != std::string::npos)
                    report("string holds a NUL");
                else if (before && *before >= value)
                    report("strings are not ascending: ", *before, " comes before ", value);
                before = &value;
            });
    }

    void producer_and_inputs()
    {
        table_ = producer;
        index_ = 0;
        const Producer& p = bundle_.producer;
        string("name", p.name);
        string("tool version", p.tool_version);
        string("compiler", p.compiler);
        if (p.mask == 0 || (p.mask & ~known_targets) != 0)
            report("mask is ", p.mask, "; expected some of the bits ", first_target, " to ", last_target);
        each(
            inputs,
            bundle_.inputs,
            [&](const Input& i)
            {
                between("kind", i.kind, 1, 4);
                string("name", i.name);
            });
        ascending(inputs, bundle_.inputs, [](const Input& i) { return std::tuple(i.kind, i.name); });
    }

    void groups()
    {
        each(
            wire::groups,
            bundle_.groups,
            [&](const Group& g)
            {
                string("name", g.name);
                between("kind", g.kind, 1, 3);
                if (g.entries.count == 0)
                    report("group has no entry");
            });
        ascending(wire::groups, bundle_.groups, &Group::name);
        each(
            defines,
            bundle_.defines,
            [&](const Define& d)
            {
                string("name", d.name);
                string("value", d.value);
            });
        each(
            entries,
            bundle_.entries,
            [&](const Entry& e)
            {
                reference("group", e.group, bundle_.groups.size());
                string("name", e.name);
                string("module", e.module);
                between("stage", e.stage, 1, last_stage);
            });
        each(
            layouts,
            bundle_.layouts,
            [&](const Layout& l)
            {
                reference("group", l.group, bundle_.groups.size());
                target(l.target);
                reference("payload", l.payload, payload_count_);
            });
        each(words, bundle_.words, [&](StringRef word) { string("word", word); });
    }

    void codes()
    {
        each(
            wire::codes,
            bundle_.codes,
            [&](const Code& c)
            {
                entry("entry", c.entry);
                target(c.target);
                reference("payload", c.payload, payload_count_);
                string("name", c.name);
                string("machine", c.machine, true);
            });
        each(
            rows,
            bundle_.rows,
            [&](const Row& r)
            {
                string("name", r.name);
                entry("entry", r.entry, true);
                between("kind", r.kind, 1, last_row_kind);
                string("block", r.block, true);
                if ((r.flags & ~std::uint32_t{dropped}) != 0)
                    report("flags ", r.flags, " have bits that version 1 does not define");
            });
    }

    void pipelines()
    {
        each(
            wire::pipelines,
            bundle_.pipelines,
            [&](const Pipeline& p)
            {
                string("name", p.name);
                reference("group", p.group, bundle_.groups.size());
                if (p.entries.count == 0)
                    report("pipeline has no entry");
            });
        ascending(wire::pipelines, bundle_.pipelines, &Pipeline::name);
        each(pipeline_entries, bundle_.pipeline_entries, [&](Ref ref) { entry("entry", ref); });
        each(
            hit_groups,
            bundle_.hit_groups,
            [&](const HitGroup& h)
            {
                string("name", h.name);
                entry("closest hit", h.closest_hit, true);
                entry("any hit", h.any_hit, true);
                entry("intersection", h.intersection, true);
                if (h.closest_hit == 0 && h.any_hit == 0 && h.intersection == 0)
                    report("hit group has no entry");
            });
        each(attributes, bundle_.attributes, [&](const VertexAttribute& a) { string("semantic", a.semantic); });
    }

    void profiles_and_allowances()
    {
        each(profiles, bundle_.profiles, [&](StringRef name) { string("name", name); });
        ascending(profiles, bundle_.profiles, [](StringRef name) { return name; });
        each(
            allowances,
            bundle_.allowances,
            [&](const Allowance& a)
            {
                string("rule", a.rule);
                string("entry", a.entry, true);
                string("reason", a.reason);
                if (!problem_ && text_of(bundle_, a.reason).empty())
                    report("reason is empty");
            });
        ascending(allowances, bundle_.allowances, [](const Allowance& a) { return std::tuple(a.rule, a.entry); });
    }

    template <class R, class Key>
    void ascending(Kind table, const std::vector<R>& records, Key key)
    {
        const R* before = nullptr;
        each(
            table,
            records,
            [&](const R& record)
            {
                if (before && std::invoke(key, *before) >= std::invoke(key, record))
                    report("not ascending, or there twice");
                before = &record;
            });
    }

    // How far the owners of a table have taken it: each part begins where the one before ends.
    struct Taken
    {
        Kind table;
        std::size_t size;
        std::size_t next = 0;
    };

    template <class R>
    void take(Kind owner, const std::vector<R>& owners, std::initializer_list<Span R::*> members, Taken& taken)
    {
        each(
            owner,
            owners,
            [&](const R& record)
            {
                for (Span R::*member : members)
                {
                    const Span span = record.*member;
                    if (span.first != taken.next || span.count > taken.size - taken.next)
                        return report(
                            "part ", span.first, "+", span.count, " of ", name_of(taken.table), " (", taken.size,
                            " records) must begin at ", taken.next, " and end inside it");
                    taken.next += span.count;
                }
            });
    }

    void finish(const Taken& taken)
    {
        table_ = taken.table;
        index_ = taken.next;
        if (taken.next != taken.size)
            report("record belongs to nobody: owners take ", taken.next, " of ", taken.size);
    }

    template <class R, class Side>
    void partition(Kind owner, const std::vector<R>& owners, Span R::*member, Kind table, const std::vector<Side>& side)
    {
        Taken taken{table, side.size()};
        take(owner, owners, {member}, taken);
        finish(taken);
    }

    void partitions()
    {
        const Bundle& b = bundle_;
        partition(wire::groups, b.groups, &Group::entries, entries, b.entries);
        partition(wire::groups, b.groups, &Group::layouts, layouts, b.layouts);
        partition(wire::groups, b.groups, &Group::permutation, defines, b.defines);
        partition(entries, b.entries, &Entry::codes, wire::codes, b.codes);
        partition(layouts, b.layouts, &Layout::rows, rows, b.rows);
        partition(wire::pipelines, b.pipelines, &Pipeline::entries, pipeline_entries, b.pipeline_entries);
        partition(wire::pipelines, b.pipelines, &Pipeline::hit_groups, hit_groups, b.hit_groups);
        partition(wire::pipelines, b.pipelines, &Pipeline::attributes, attributes, b.attributes);
        partition(wire::pipelines, b.pipelines, &Pipeline::streams, streams, b.streams);
        Taken taken{words, b.words.size()};
        take(wire::groups, b.groups, {&Group::options}, taken);
        take(wire::codes, b.codes, {&Code::capabilities, &Code::extensions}, taken);
        finish(taken);
    }

    // Reports at the record of `table` that stands `at` in the part of its owner.
    template <class... Parts>
    void report_in(Kind table, Span span, std::size_t at, const Parts&... parts)
    {
        if (problem_)
            return;
        table_ = table;
        index_ = span.first + at;
        report(parts...);
    }

    template <class R, class Key>
    void ascending_in(Kind table, const std::vector<R>& records, Span span, Key key)
    {
        const auto owned = part(records, span);
        for (std::size_t i = 1; i < owned.size(); ++i)
            if (std::invoke(key, owned[i - 1]) >= std::invoke(key, owned[i]))
                report_in(table, span, i, "not ascending, or there twice");
    }

    // Every record of an owner's part says who that owner is.
    template <class R>
    void owned(Kind table, const std::vector<R>& records, Span span, Ref R::*owner, std::size_t owner_index)
    {
        const auto part_of_owner = part(records, span);
        for (std::size_t i = 0; i < part_of_owner.size(); ++i)
            if (part_of_owner[i].*owner != owner_index + 1)
                report_in(table, span, i, "belongs to record ", owner_index + 1, ", and names ", part_of_owner[i].*owner);
    }

    void order_in_groups()
    {
        const Bundle& b = bundle_;
        for (std::size_t g = 0; g < b.groups.size(); ++g)
        {
            const Group& group = b.groups[g];
            owned(entries, b.entries, group.entries, &Entry::group, g);
            owned(layouts, b.layouts, group.layouts, &Layout::group, g);
            ascending_in(layouts, b.layouts, group.layouts, &Layout::target);
            ascending_in(defines, b.defines, group.permutation, &Define::name);
            std::set<StringRef> names;
            const auto members = part(b.entries, group.entries);
            for (std::size_t i = 0; i < members.size(); ++i)
                if (!names.insert(members[i].name).second)
                    report_in(entries, group.entries, i, "a second entry of this name in its group");
            for (const Layout& layout : part(b.layouts, group.layouts))
                rows_of(layout, group);
        }
        for (std::size_t e = 0; e < b.entries.size(); ++e)
        {
            owned(wire::codes, b.codes, b.entries[e].codes, &Code::entry, e);
            ascending_in(wire::codes, b.codes, b.entries[e].codes, &Code::target);
        }
        const auto itself = [](StringRef word) { return word; };
        for (const Code& code : b.codes)
        {
            ascending_in(words, b.words, code.capabilities, itself);
            ascending_in(words, b.words, code.extensions, itself);
        }
    }

    void rows_of(const Layout& layout, const Group& group)
    {
        ascending_in(
            rows,
            bundle_.rows,
            layout.rows,
            [](const Row& r) { return std::tuple(r.entry, r.name, r.kind, r.space, r.binding, r.offset_bytes); });
        const auto owned_rows = part(bundle_.rows, layout.rows);
        for (std::size_t i = 0; i < owned_rows.size(); ++i)
            if (const Ref entry = owned_rows[i].entry; entry != 0 && !holds(group.entries, entry))
                report_in(rows, layout.rows, i, "its entry ", entry, " is of another group");
    }

    [[nodiscard]] static bool holds(Span span, Ref ref) { return ref - 1 >= span.first && ref - 1 - span.first < span.count; }

    void order_in_pipelines()
    {
        const Bundle& b = bundle_;
        for (const Pipeline& pipeline : b.pipelines)
        {
            const auto members = part(b.pipeline_entries, pipeline.entries);
            ascending_in(pipeline_entries, b.pipeline_entries, pipeline.entries, [](Ref ref) { return ref; });
            const Span of_group = b.groups[pipeline.group - 1].entries;
            for (std::size_t i = 0; i < members.size(); ++i)
                if (!holds(of_group, members[i]))
                    report_in(pipeline_entries, pipeline.entries, i, "entry ", members[i], " is of another group");
            const auto hits = part(b.hit_groups, pipeline.hit_groups);
            for (std::size_t i = 0; i < hits.size(); ++i)
                for (const Ref ref : {hits[i].closest_hit, hits[i].any_hit, hits[i].intersection})
                    if (ref != 0 && !std::ranges::binary_search(members, ref))
                        report_in(hit_groups, pipeline.hit_groups, i, "entry ", ref, " is not among the pipeline's");
            const auto inputs_of = part(b.attributes, pipeline.attributes);
            for (std::size_t i = 0; i < inputs_of.size(); ++i)
                if (inputs_of[i].stream >= pipeline.streams.count)
                    report_in(
                        attributes, pipeline.attributes, i, "stream ", inputs_of[i].stream, ", and the pipeline has ",
                        pipeline.streams.count);
        }
    }

    // Payloads stand in the order of the first reference to them, and no two are equal.
    void payloads()
    {
        each(layouts, bundle_.layouts, [&](const Layout& l) { payload(l.payload); });
        each(wire::codes, bundle_.codes, [&](const Code& c) { payload(c.payload); });
        std::set<Digest> digests;
        table_ = producer;
        index_ = 0;
        for (std::size_t i = 0; i < payload_count_; ++i)
            if (!digests.insert(bundle_.sections[bundle_.first_payload + i].digest).second)
                report("payload ", i + 1, " is equal to an earlier one");
    }

    void payload(Ref ref)
    {
        if (ref > next_payload_)
            report("payload ", ref, " is referred to before payload ", next_payload_);
        else if (ref == next_payload_)
            ++next_payload_;
    }

    void everything_is_used()
    {
        table_ = producer;
        index_ = 0;
        if (next_payload_ != payload_count_ + 1)
            report("payload ", next_payload_, " belongs to nobody");
        const auto unused = std::ranges::find(is_used_, false);
        table_ = wire::strings;
        index_ = static_cast<std::size_t>(unused - is_used_.begin());
        if (unused != is_used_.end())
            report("string is used by nobody: ", bundle_.strings[index_]);
    }

    const Bundle& bundle_;
    std::size_t payload_count_;
    std::vector<bool> is_used_;
    std::optional<Problem> problem_;
    Kind table_ = producer;
    std::size_t index_ = 0;
    Ref next_payload_ = 1;
};

} // namespace

std::optional<Problem> find_problem(const Bundle& bundle, std::size_t payload_count)
{
    return Checker(bundle, payload_count).run();
}

} // namespace dream::bundle::wire
