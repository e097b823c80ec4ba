#include "layout/json.hpp"
#include "bundle.hpp"

namespace dream::bundle
{

namespace
{

class Document
{
public:
    explicit Document(const Bundle& bundle)
        : bundle_(bundle)
    {
    }

    std::string run()
    {
        object(
            [&]
            {
                field("format", std::to_string(format_major) + '.' + std::to_string(bundle_.minor));
                json_.key("producer");
                object([&] { producer(bundle_.producer); });
                list("inputs", std::span<const Input>(bundle_.inputs), [&](const Input& i) { input(i); });
                list("groups", std::span<const Group>(bundle_.groups), [&](const Group& g) { group(g); });
                list("pipelines", std::span<const Pipeline>(bundle_.pipelines), [&](const Pipeline& p) { pipeline(p); });
                strings("profiles", bundle_.profiles);
                list(
                    "allowances",
                    std::span<const Allowance>(bundle_.allowances),
                    [&](const Allowance& a)
                    {
                        string("rule", a.rule);
                        string("entry", a.entry);
                        string("reason", a.reason);
                    });
                const auto sections = std::span<const Section>(bundle_.sections);
                list("tables", sections.first(bundle_.first_payload), [&](const Section& s) { section(s); });
                list("payloads", sections.subspan(bundle_.first_payload), [&](const Section& s) { section(s); });
            });
        return std::move(json_.text);
    }

private:
    template <class F>
    void object(F&& f)
    {
        json_.open('{');
        f();
        json_.close('}');
    }
    template <class R, class F>
    void list(std::string_view name, std::span<const R> records, F&& f)
    {
        json_.key(name);
        json_.open('[');
        for (const R& record : records)
            object([&] { f(record); });
        json_.close(']');
    }
    template <std::integral T>
    void field(std::string_view name, T value)
    {
        json_.key(name);
        json_.number(value);
    }
    void field(std::string_view name, std::string_view value)
    {
        json_.key(name);
        json_.string(value);
    }
    void digest(std::string_view name, const Digest& value)
    {
        field(name, layout::hex(std::as_bytes(std::span(value))));
    }
    void text(StringRef value)
    {
        if (value == 0)
            json_.null();
        else
            json_.string(text_of(bundle_, value));
    }
    void string(std::string_view name, StringRef value)
    {
        json_.key(name);
        text(value);
    }
    void strings(std::string_view name, std::span<const StringRef> values)
    {
        json_.key(name);
        json_.open('[');
        for (const StringRef value : values)
            text(value);
        json_.close(']');
    }
    void entry_name(std::string_view name, Ref entry)
    {
        string(name, entry == 0 ? 0 : bundle_.entries[entry - 1].name);
    }

    void producer(const Producer& p)
    {
        string("name", p.name);
        string("tool_version", p.tool_version);
        string("compiler", p.compiler);
        field("recorder_version", p.recorder_version);
        field("mask", p.mask);
        digest("inputs_sha256", p.inputs_digest);
    }

    void input(const Input& i)
    {
        field("kind", i.kind);
        string("name", i.name);
        digest("sha256", i.digest);
    }

    void group(const Group& g)
    {
        string("name", g.name);
        field("kind", g.kind);
        list("entries", part(bundle_.entries, g.entries), [&](const Entry& e) { entry(e); });
        list("layouts", part(bundle_.layouts, g.layouts), [&](const Layout& l) { layout(l); });
        list(
            "permutation",
            part(bundle_.defines, g.permutation),
            [&](const Define& d)
            {
                string("name", d.name);
                string("value", d.value);
            });
        strings("options", part(bundle_.words, g.options));
    }

    void entry(const Entry& e)
    {
        string("name", e.name);
        string("module", e.module);
        field("stage", e.stage);
        json_.key("thread_group_size");
        json_.open('[');
        for (const std::uint32_t axis : e.thread_group_size)
            json_.number(axis);
        json_.close(']');
        field("wave_size", e.wave_size);
        list("codes", part(bundle_.codes, e.codes), [&](const Code& c) { code(c); });
    }

    void code(const Code& c)
    {
        field("target", c.target);
        field("payload", c.payload - 1);
        string("name", c.name);
        field("features", c.features);
        field("version_major", c.version_major);
        field("version_minor", c.version_minor);
        string("machine", c.machine);
        strings("capabilities", part(bundle_.words, c.capabilities));
        strings("extensions", part(bundle_.words, c.extensions));
    }

    void layout(const Layout& l)
    {
        field("target", l.target);
        field("payload", l.payload - 1);
        list("rows", part(bundle_.rows, l.rows), [&](const Row& r) { row(r); });
    }

    void row(const Row& r)
    {
        string("name", r.name);
        entry_name("entry", r.entry);
        field("kind", r.kind);
        field("access", r.access);
        field("shape", r.shape);
        field("image_format", r.image_format);
        field("category", r.category);
        field("space", r.space);
        json_.key("binding");
        if (r.binding == no_binding)
            json_.null();
        else
            json_.number(r.binding);
        field("count", r.count);
        string("block", r.block);
        json_.key("dropped");
        json_.boolean((r.flags & dropped) != 0);
        field("offset_bytes", r.offset_bytes);
        field("size_bytes", r.size_bytes);
    }

    void pipeline(const Pipeline& p)
    {
        string("name", p.name);
        string("group", bundle_.groups[p.group - 1].name);
        field("ray_payload_bytes", p.ray_payload_bytes);
        field("ray_attribute_bytes", p.ray_attribute_bytes);
        field("ray_recursion", p.ray_recursion);
        json_.key("entries");
        json_.open('[');
        for (const Ref entry : part(bundle_.pipeline_entries, p.entries))
            text(bundle_.entries[entry - 1].name);
        json_.close(']');
        list(
            "hit_groups",
            part(bundle_.hit_groups, p.hit_groups),
            [&](const HitGroup& h)
            {
                string("name", h.name);
                entry_name("closest_hit", h.closest_hit);
                entry_name("any_hit", h.any_hit);
                entry_name("intersection", h.intersection);
            });
        list(
            "attributes",
            part(bundle_.attributes, p.attributes),
            [&](const VertexAttribute& a)
            {
                string("semantic", a.semantic);
                field("semantic_index", a.semantic_index);
                field("format", a.format);
                field("offset_bytes", a.offset_bytes);
                field("stream", a.stream);
            });
        list(
            "streams",
            part(bundle_.streams, p.streams),
            [&](const VertexStream& s)
            {
                field("stride_bytes", s.stride_bytes);
                field("instances_per_step", s.instances_per_step);
            });
    }

    void section(const Section& s)
    {
        field("kind", std::string_view(s.kind.data(), s.kind.size()));
        field("offset", s.offset);
        field("size", s.size);
        digest("sha256", s.digest);
    }

    const Bundle& bundle_;
    layout::Json json_;
};

} // namespace

std::string to_json(const Bundle& bundle)
{
    return Document(bundle).run();
}

} // namespace dream::bundle
