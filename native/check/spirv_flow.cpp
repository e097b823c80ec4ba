// What functions do that rules ask about: which descriptors are chosen by a value that differs between threads, and at
// which bytes the parameters of cooperative-vector layers are.
//
// Values are followed through instructions, local variables and calls, without control flow. What is not understood does
// not differ: a finding is meant to be right, at the price of missing some.
#include "spirv_module.hpp"

#include <map>

namespace dream::check::spirv
{

namespace
{

using Operands = std::span<const std::uint32_t>;

// Values go round through variables and calls; three rounds settle all but made-up modules.
constexpr int most_rounds = 8;

constexpr std::uint32_t capability_shader_non_uniform = 5301;
constexpr std::uint32_t capability_cooperative_vector = 5394;

// Built-in inputs that are equal in all threads that run together (SPIR-V 3.21, Vulkan "Built-In Variables").
bool is_uniform_builtin(std::uint32_t builtin)
{
    switch (builtin)
    {
    case 24: // NumWorkgroups, WorkgroupSize, WorkgroupId
    case 25:
    case 26:
    case 36: // SubgroupSize, NumSubgroups, SubgroupId
    case 38:
    case 40:
    case 4424: // BaseVertex, BaseInstance, DrawIndex
    case 4425:
    case 4426:
    case 4438: // DeviceIndex
    case 4440: // ViewIndex
    case 5320: // LaunchSizeKHR
        return true;
    default:
        return false;
    }
}

bool is_tainted_storage(std::uint32_t storage)
{
    return storage == storage_ray_payload || storage == storage_incoming_ray_payload ||
        storage == storage_hit_attribute || storage == storage_incoming_callable_data;
}

bool is_atomic(std::uint32_t opcode)
{
    return opcode >= 227 && opcode < 243;
}

// The operands that are ids whose values make the result; literals are not among them.
Operands sources(std::uint32_t opcode, Operands read)
{
    const auto first = [&](std::size_t count) { return read.first(std::min(count, read.size())); };
    // Conversions, arithmetic, logic, bits; composites; selection, phi; copies.
    const bool is_plain = (opcode >= 109 && opcode < 125) || (opcode >= 126 && opcode < 206) || opcode == 77 ||
        opcode == 78 || opcode == 80 || opcode == 83 || opcode == 84 || opcode == 245 || opcode == 400 || opcode == 4450;
    if (is_plain)
        return read;
    if (opcode == op_composite_extract)
        return first(1);
    const bool is_image_read = opcode >= 86 && opcode < 107;
    if (opcode == op_vector_shuffle || opcode == op_composite_insert || is_image_read)
        return first(2);
    if (opcode == op_ext_inst)
        return read.size() > 2 ? read.subspan(2) : Operands{};
    return {};
}

std::pair<std::uint32_t, const char*> capability_for(Kind kind)
{
    switch (kind)
    {
    case Kind::constant_buffer:
        return {5306, "UniformBufferArrayNonUniformIndexing"};
    case Kind::texture:
    case Kind::texture_sampler:
    case Kind::sampler:
        return {5307, "SampledImageArrayNonUniformIndexing"};
    case Kind::buffer:
    case Kind::rw_buffer:
        return {5308, "StorageBufferArrayNonUniformIndexing"};
    case Kind::rw_texture:
        return {5309, "StorageImageArrayNonUniformIndexing"};
    default:
        return {0, nullptr};
    }
}

// Arrays of resources: variable -> resource.
using Arrays = std::map<std::uint32_t, const Resource*>;

// Whether an array is accessed, or handed on, otherwise than by a constant index.
bool has_dynamic_access(const Module& module, const Arrays& arrays)
{
    return module.any_in_functions(
        [&](std::uint32_t opcode, Operands operands)
        {
            if ((opcode == op_access_chain || opcode == op_in_bounds_access_chain) && operands.size() > 3)
                return arrays.contains(operands[2]) && !module.constant(operands[3]);
            if (opcode == op_function_call && operands.size() > 3)
                return std::ranges::any_of(operands.subspan(3), [&](std::uint32_t id) { return arrays.contains(id); });
            return false;
        });
}

// Ids of values that differ between threads; of pointers, when what they point to is chosen by such a value.
class Walk
{
public:
    Walk(const Module& module, const Arrays& arrays)
        : module_(module)
        , arrays_(arrays)
        , differs_(module.bound())
    {
        for (const Variable& variable : module.variables)
        {
            roots_[variable.id] = variable.id;
            const std::optional<std::uint32_t> builtin = module.literal(variable.id, decoration_builtin);
            if ((variable.storage == storage_input && !(builtin && is_uniform_builtin(*builtin))) ||
                is_tainted_storage(variable.storage))
                mark(variable.id);
        }
    }

    std::vector<DynamicIndex> run()
    {
        for (int round = 0; round < most_rounds; ++round)
        {
            const auto before = std::pair(marked_, roots_.size());
            module_.any_in_functions(
                [&](std::uint32_t opcode, Operands operands)
                {
                    if (operands.size() > 1 || opcode == op_return_value)
                        instruction(opcode, operands);
                    return false;
                });
            if (std::pair(marked_, roots_.size()) == before)
                break;
        }
        return found();
    }

private:
    [[nodiscard]] bool differs(std::uint32_t id) const { return id < differs_.size() && differs_[id]; }
    [[nodiscard]] bool any_differs(Operands ids) const
    {
        return std::ranges::any_of(ids, [&](std::uint32_t id) { return differs(id); });
    }
    void mark(std::uint32_t id)
    {
        if (id < differs_.size() && !differs_[id])
        {
            differs_[id] = true;
            ++marked_;
        }
    }
    [[nodiscard]] const std::uint32_t* root(std::uint32_t id) const
    {
        const auto found = roots_.find(id);
        return found == roots_.end() ? nullptr : &found->second;
    }
    [[nodiscard]] const std::uint32_t* chain(std::uint32_t id) const
    {
        const auto found = chains_.find(id);
        return found == chains_.end() ? nullptr : &found->second;
    }
    void set_chain(std::uint32_t id, std::uint32_t variable)
    {
        if (chains_.insert_or_assign(id, variable).second)
            chain_order_.push_back(id);
    }

    void instruction(std::uint32_t opcode, Operands operands)
    {
        switch (opcode)
        {
        case op_function:
            function_ = operands[1];
            break;
        case op_function_parameter:
        {
            std::vector<std::uint32_t>& parameters = parameters_[function_];
            if (std::ranges::find(parameters, operands[1]) == parameters.end())
                parameters.push_back(operands[1]);
            break;
        }
        case op_return_value:
            if (!operands.empty() && differs(operands[0]))
                mark(function_);
            break;
        case op_store:
            if (const std::uint32_t* const to = root(operands[0]); to && differs(operands[1]))
                mark(*to);
            break;
        case op_variable:
            roots_[operands[1]] = operands[1];
            break;
        default:
            if (operands.size() > 2)
                result(opcode, operands[1], operands.subspan(2));
        }
    }

    void result(std::uint32_t opcode, std::uint32_t id, Operands read)
    {
        switch (opcode)
        {
        case op_access_chain:
        case op_in_bounds_access_chain:
            if (const std::uint32_t* const from = root(read[0]))
                roots_[id] = std::uint32_t{*from};
            if (any_differs(read))
                mark(id);
            if (arrays_.contains(read[0]) && read.size() > 1 && differs(read[1]))
                set_chain(id, read[0]);
            else if (const std::uint32_t* const from = chain(read[0]))
                set_chain(id, std::uint32_t{*from});
            break;
        case op_load:
        {
            const std::uint32_t* const from = root(read[0]);
            if (differs(read[0]) || (from && differs(*from)))
                mark(id);
            if (chain(read[0]))
                loads_[read[0]].push_back(id);
            break;
        }
        case op_function_call:
            if (const auto called = parameters_.find(read[0]); called != parameters_.end())
                for (std::size_t i = 0; i < called->second.size() && i + 1 < read.size(); ++i)
                {
                    if (differs(read[i + 1]))
                        mark(called->second[i]);
                    if (const std::uint32_t* const from = root(read[i + 1]))
                        roots_[called->second[i]] = std::uint32_t{*from};
                }
            if (differs(read[0]))
                mark(id);
            break;
        default:
            if (is_atomic(opcode) || any_differs(sources(opcode, read)))
                mark(id);
        }
    }

    [[nodiscard]] std::vector<DynamicIndex> found() const
    {
        std::vector<DynamicIndex> all;
        std::map<std::pair<std::uint32_t, bool>, bool> told;
        const auto declares = [&](std::uint32_t capability)
        { return std::ranges::find(module_.capabilities, capability) != module_.capabilities.end(); };
        for (const std::uint32_t id : chain_order_)
        {
            const std::uint32_t variable = *chain(id);
            const Resource& resource = *arrays_.at(variable);
            const auto loaded = loads_.find(id);
            const auto is_marked = [&](std::uint32_t one) { return module_.decorated(one, decoration_non_uniform); };
            const bool decorated =
                is_marked(id) || (loaded != loads_.end() && std::ranges::any_of(loaded->second, is_marked));
            if (!told.emplace(std::pair(variable, decorated), true).second)
                continue;
            DynamicIndex made{resource.name, decorated, {}};
            if (!declares(capability_shader_non_uniform))
                made.missing.push_back("ShaderNonUniform");
            if (const auto [number, name] = capability_for(resource.kind); name && !declares(number))
                made.missing.push_back(name);
            all.push_back(std::move(made));
        }
        return all;
    }

    const Module& module_;
    const Arrays& arrays_;
    std::vector<bool> differs_;
    std::size_t marked_ = 0;
    std::unordered_map<std::uint32_t, std::uint32_t> roots_; // pointer -> variable
    std::unordered_map<std::uint32_t, std::uint32_t> chains_; // access by a differing index -> variable
    std::vector<std::uint32_t> chain_order_;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> loads_; // access -> what was loaded through it
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> parameters_;
    std::uint32_t function_ = 0;
};

} // namespace

void follow(const Module& module, const std::vector<std::uint32_t>& variables, Facts& facts)
{
    Arrays arrays;
    for (std::size_t i = 0; i < variables.size(); ++i)
        if (facts.resources[i].count != 1)
            arrays[variables[i]] = &facts.resources[i];
    if (!arrays.empty() && has_dynamic_access(module, arrays))
        facts.dynamic_indexes = Walk(module, arrays).run();
    if (std::ranges::find(module.capabilities, capability_cooperative_vector) == module.capabilities.end())
        return;
    module.any_in_functions(
        [&](std::uint32_t opcode, Operands operands)
        {
            const auto note = [&](const char* what, std::size_t index)
            {
                if (const auto offset = operands.size() > index ? module.constant(operands[index]) : std::nullopt)
                    facts.layers.push_back({what, *offset});
            };
            if (opcode == op_cooperative_vector_matrix_mul || opcode == op_cooperative_vector_matrix_mul_add)
                note("matrix", 5);
            if (opcode == op_cooperative_vector_matrix_mul_add)
                note("bias", 8);
            return false;
        });
}

} // namespace dream::check::spirv
