// Entries, resources and varyings, from a module's declarations.
#include "spirv_module.hpp"

#include <unordered_set>

namespace dream::check::spirv
{

namespace
{

// SlangStage by SPIR-V's execution model.
std::uint32_t stage_of(std::uint32_t model)
{
    switch (model)
    {
    case 0: // Vertex, TessellationControl, TessellationEvaluation, Geometry, Fragment, GLCompute
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        return model + 1;
    case 5267: // TaskNV, TaskEXT
    case 5364:
        return 14;
    case 5268: // MeshNV, MeshEXT
    case 5365:
        return 13;
    case 5313: // RayGenerationKHR
        return 7;
    case 5314: // IntersectionKHR
        return 8;
    case 5315: // AnyHitKHR
        return 9;
    case 5316: // ClosestHitKHR
        return 10;
    case 5317: // MissKHR
        return 11;
    case 5318: // CallableKHR
        return 12;
    default:
        return 0;
    }
}

constexpr std::uint32_t hull = 2, domain = 3, geometry = 4, compute = 6, mesh = 13, amplification = 14;
constexpr std::uint32_t mode_local_size = 17, mode_local_size_id = 38;

constexpr std::uint32_t dim_buffer = 5;
constexpr std::uint32_t sampled_storage = 2;

// ImageFormat.
constexpr auto formats = std::to_array<const char*>({
    "Unknown",     "Rgba32f",    "Rgba16f",  "R32f",       "Rgba8",  "Rgba8Snorm", "Rg32f",   "Rg16f",     "R11fG11fB10f",
    "R16f",        "Rgba16",     "Rgb10A2",  "Rg16",       "Rg8",    "R16",        "R8",      "Rgba16Snorm", "Rg16Snorm",
    "Rg8Snorm",    "R16Snorm",   "R8Snorm",  "Rgba32i",    "Rgba16i", "Rgba8i",    "R32i",    "Rg32i",     "Rg16i",
    "Rg8i",        "R16i",       "R8i",      "Rgba32ui",   "Rgba16ui", "Rgba8ui",  "R32ui",   "Rgb10a2ui", "Rg32ui",
    "Rg16ui",      "Rg8ui",      "R16ui",    "R8ui",       "R64ui",  "R64i",
});

class Reader
{
public:
    explicit Reader(std::span<const std::byte> data)
        : module_(data)
    {
    }

    Facts run()
    {
        NaturalSizes sizes(module_);
        std::vector<std::uint32_t> bound; // variables of the resources
        for (const Variable& variable : module_.variables)
        {
            if (std::optional<Resource> resource = resource_of(variable))
            {
                numbers_.emplace(variable.id, static_cast<std::uint32_t>(bound.size()));
                bound.push_back(variable.id);
                facts_.resources.push_back(std::move(*resource));
            }
            const std::uint32_t held = module_.pointee(variable);
            switch (variable.storage)
            {
            case storage_push_constant:
                facts_.push.emplace_back(module_.name(variable.id), contents_of(module_, held));
                break;
            case storage_workgroup:
                facts_.workgroup_bytes = add(facts_.workgroup_bytes, sizes.bytes(held));
                break;
            case storage_ray_payload:
            case storage_incoming_ray_payload:
                facts_.ray_payload_bytes = std::max(facts_.ray_payload_bytes, sizes.bytes(held));
                break;
            case storage_hit_attribute:
                facts_.ray_attribute_bytes = std::max(facts_.ray_attribute_bytes, sizes.bytes(held));
                break;
            case storage_callable_data:
            case storage_incoming_callable_data:
                facts_.callable_bytes = std::max(facts_.callable_bytes, sizes.bytes(held));
                break;
            default:
                break;
            }
        }
        for (const EntryPoint& point : module_.entry_points)
            facts_.entries.push_back(entry_of(point));
        std::tie(facts_.version_major, facts_.version_minor) = module_.version();
        follow(module_, bound, facts_);
        facts_.capabilities = std::move(module_.capabilities);
        facts_.extensions = std::move(module_.extensions);
        return std::move(facts_);
    }

private:
    std::optional<Resource> resource_of(const Variable& variable) const
    {
        if (variable.storage != storage_uniform_constant && variable.storage != storage_uniform &&
            variable.storage != storage_storage_buffer)
            return std::nullopt;
        const std::optional<std::uint32_t> binding = module_.literal(variable.id, decoration_binding);
        if (!binding)
            return std::nullopt;
        Resource found;
        const std::uint32_t element = innermost(module_.pointee(variable), found.count);
        const TypeOf kind = module_.type(element);
        if (variable.storage == storage_uniform_constant)
        {
            if (!opaque(variable, kind, found))
                return std::nullopt;
        }
        else if (kind.opcode == op_type_struct)
        {
            const bool is_storage =
                variable.storage == storage_storage_buffer || module_.decorated(element, decoration_buffer_block);
            found.writable = is_storage && !never_written(variable.id, element, kind);
            found.kind = !is_storage ? Kind::constant_buffer : found.writable ? Kind::rw_buffer : Kind::buffer;
            found.contents = contents_of(module_, element);
        }
        else
            return std::nullopt;
        found.name = module_.name(variable.id);
        found.space = module_.literal(variable.id, decoration_descriptor_set).value_or(0);
        found.binding = *binding;
        found.heap = found.name.starts_with("__slang_") && found.name.find("_heap") != std::string::npos;
        return found;
    }

    // The element of an array of resources, however deep, and how many there are (0: without bound).
    std::uint32_t innermost(std::uint32_t type, std::uint64_t& count) const
    {
        for (int level = 0; level < most_levels; ++level)
        {
            const TypeOf kind = module_.type(type);
            if (kind.operands.empty())
                break;
            if (kind.opcode == op_type_runtime_array)
                count = 0;
            else if (kind.opcode == op_type_array)
                count = multiply(count, array_count(module_, kind.operands));
            else
                break;
            type = kind.operands[0];
        }
        return type;
    }

    // A sampler, image or acceleration structure; false for none.
    bool opaque(const Variable& variable, TypeOf kind, Resource& found) const
    {
        if (kind.opcode == op_type_sampler)
        {
            found.kind = Kind::sampler;
            return true;
        }
        if (kind.opcode == op_type_acceleration_structure)
        {
            found.kind = Kind::acceleration_structure;
            return true;
        }
        const bool is_combined = kind.opcode == op_type_sampled_image;
        if (is_combined && !kind.operands.empty())
            kind = module_.type(kind.operands[0]);
        if (kind.opcode != op_type_image || kind.operands.size() < 7)
            return false;
        const bool is_storage = kind.operands[5] == sampled_storage;
        const bool is_written = is_storage && !module_.decorated(variable.id, decoration_non_writable);
        if (kind.operands[1] == dim_buffer || !is_combined)
        {
            found.writable = is_written;
            if (is_storage && kind.operands[6] < formats.size())
                found.format = formats[kind.operands[6]];
        }
        if (kind.operands[1] == dim_buffer)
            found.kind = is_written ? Kind::rw_buffer : Kind::buffer;
        else if (is_combined)
            found.kind = Kind::texture_sampler;
        else
            found.kind = is_written ? Kind::rw_texture : Kind::texture;
        return true;
    }

    bool never_written(std::uint32_t variable, std::uint32_t type, const TypeOf& kind) const
    {
        if (module_.decorated(variable, decoration_non_writable))
            return true;
        const auto members = static_cast<std::uint32_t>(kind.operands.size());
        for (std::uint32_t index = 0; index < members; ++index)
            if (!module_.member_decoration(type, index, decoration_non_writable))
                return false;
        return members > 0;
    }

    Entry entry_of(const EntryPoint& point) const
    {
        Entry found;
        found.name = point.name;
        found.stage = stage_of(point.model);
        if (found.stage == compute || found.stage == mesh || found.stage == amplification)
            found.thread_group_size = thread_group(point);
        // Each id once, in the order in which the interface lists it.
        std::vector<std::uint32_t> interface;
        std::unordered_set<std::uint32_t> seen;
        for (const std::uint32_t id : module_.words(point.interface))
            if (seen.insert(id).second)
                interface.push_back(id);
        const bool has_arrayed_inputs = found.stage == hull || found.stage == domain || found.stage == geometry;
        found.inputs = varyings(interface, storage_input, has_arrayed_inputs);
        found.outputs = varyings(interface, storage_output, found.stage == hull || found.stage == mesh);
        // Before 1.4 an interface lists inputs and outputs alone.
        if (module_.version() >= std::pair(1u, 4u))
        {
            for (const std::uint32_t id : interface)
                if (const auto number = numbers_.find(id); number != numbers_.end())
                    found.resources.push_back(number->second);
            std::ranges::sort(found.resources);
        }
        else
            for (std::uint32_t number = 0; number < facts_.resources.size(); ++number)
                found.resources.push_back(number);
        return found;
    }

    std::optional<std::array<std::uint64_t, 3>> thread_group(const EntryPoint& point) const
    {
        if (const auto literals = mode_of(point, mode_local_size); literals.size() == 3)
            return std::array<std::uint64_t, 3>{literals[0], literals[1], literals[2]};
        const auto ids = mode_of(point, mode_local_size_id);
        std::array<std::uint64_t, 3> sizes{};
        if (ids.size() != 3)
            return std::nullopt;
        for (std::size_t i = 0; i < 3; ++i)
        {
            const std::optional<std::uint64_t> size = module_.constant(ids[i]);
            if (!size)
                return std::nullopt;
            sizes[i] = *size;
        }
        return sizes;
    }

    // The operands of an execution mode; of several the last one.
    std::span<const std::uint32_t> mode_of(const EntryPoint& point, std::uint32_t wanted) const
    {
        std::span<const std::uint32_t> found;
        for (const Mode& mode : module_.modes)
            if (mode.function == point.function && mode.mode == wanted)
                found = module_.words(mode.operands);
        return found;
    }

    std::vector<Varying> varyings(
        const std::vector<std::uint32_t>& interface, std::uint32_t storage, bool is_arrayed) const
    {
        std::vector<Varying> found;
        for (const std::uint32_t id : interface)
        {
            const Variable* const variable = module_.variable(id);
            if (!variable || variable->storage != storage)
                continue;
            std::uint32_t type = module_.pointee(*variable);
            TypeOf kind = module_.type(type);
            if ((is_arrayed || module_.decorated(id, decoration_per_vertex)) && kind.opcode == op_type_array &&
                !module_.decorated(id, decoration_patch))
            {
                type = kind.operands.empty() ? 0 : kind.operands[0];
                kind = module_.type(type);
            }
            std::optional<std::uint32_t> location = module_.literal(id, decoration_location);
            if (kind.opcode != op_type_struct)
            {
                const auto decoration = [&](std::uint32_t which) { return module_.decoration(id, which); };
                if (location)
                    found.push_back(varying(module_.name(id), type, *location, decoration));
                continue;
            }
            for (std::uint32_t index = 0; index < kind.operands.size(); ++index)
            {
                const std::optional<std::uint32_t> own = module_.member_literal(type, index, decoration_location);
                const std::optional<std::uint32_t> where = own ? own : location;
                if (!where)
                    continue;
                const auto decoration = [&](std::uint32_t which)
                {
                    const std::optional<Range> of_member = module_.member_decoration(type, index, which);
                    return of_member ? of_member : module_.decoration(id, which);
                };
                found.push_back(varying(module_.member_name(type, index), kind.operands[index], *where, decoration));
                location = *where + found.back().locations;
            }
        }
        return found;
    }

    template <class D>
    Varying varying(std::string name, std::uint32_t type, std::uint32_t location, const D& decoration) const
    {
        Varying made;
        made.name = std::move(name);
        std::tie(made.type, made.locations) = word_of(module_, type);
        const bool is_centroid = decoration(decoration_centroid).has_value();
        const bool is_sample = decoration(decoration_sample).has_value();
        if (decoration(decoration_flat))
            made.interpolation = is_centroid ? "flat centroid" : is_sample ? "flat sample" : "flat";
        else if (decoration(decoration_no_perspective))
            made.interpolation = is_centroid ? "linear centroid" : is_sample ? "linear sample" : "linear";
        else
            made.interpolation = is_centroid ? "smooth centroid" : is_sample ? "smooth sample" : "smooth";
        made.location = location;
        made.component = module_.first_of(decoration(decoration_component)).value_or(0);
        made.index = module_.first_of(decoration(decoration_index)).value_or(0);
        return made;
    }

    Module module_;
    Facts facts_;
    std::unordered_map<std::uint32_t, std::uint32_t> numbers_; // variable -> its resource
};

} // namespace

std::variant<Facts, Error> read(std::span<const std::byte> data)
{
    try
    {
        return Reader(data).run();
    }
    catch (const Stop& stopped)
    {
        return stopped.error;
    }
}

} // namespace dream::check::spirv
