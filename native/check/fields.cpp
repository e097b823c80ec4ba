#include "fields.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace dream::check
{

namespace
{

using layout::Blob;
using layout::Ref;
using layout::Type;
using layout::TypeLayout;
using layout::VarLayout;

// slang.h's numbers (2026.12).
enum Category : std::uint32_t
{
    constant_buffer = 2,
    shader_resource = 3,
    unordered_access = 4,
    varying_input = 5,
    sampler_state = 7,
    uniform = 8,
    descriptor_table_slot = 9,
    push_constant_buffer = 11,
    sub_element_register_space = 20,
    metal_argument_buffer_element = 22,
};
enum TypeKind : std::uint32_t
{
    kind_struct = 1,
    kind_array = 2,
    kind_matrix = 3,
    kind_vector = 4,
    kind_scalar = 5,
    kind_constant_buffer = 6,
    kind_resource = 7,
    kind_sampler = 8,
    kind_texture_buffer = 9,
    kind_storage_buffer = 10,
    kind_parameter_block = 11,
    kind_pointer = 18,
    kind_enum = 20,
};
constexpr std::uint32_t shape_base = 0x0f;
constexpr std::uint32_t shape_combined = 0x100;
constexpr std::uint32_t row_major = 1;

// The categories in which something is bound, the first that it takes.
constexpr auto bindings = std::to_array<std::uint32_t>(
    {descriptor_table_slot, constant_buffer, shader_resource, unordered_access, sampler_state,
     metal_argument_buffer_element, push_constant_buffer});

// SlangScalarType.
std::uint64_t bytes_of_scalar(std::uint32_t scalar)
{
    constexpr auto sizes = std::to_array<std::uint64_t>({4, 4, 4, 4, 4, 8, 8, 2, 4, 8, 1, 1, 2, 2});
    return scalar < sizes.size() ? sizes[scalar] : 4;
}

bool is_number(std::uint64_t size)
{
    return size != layout::unbounded_size && size != layout::unknown_size;
}

std::uint64_t number(std::uint64_t size)
{
    return is_number(size) ? size : 0;
}

template <class T>
const T* at(const std::vector<T>& table, Ref reference)
{
    return reference == 0 ? nullptr : &table[reference - 1];
}

template <class T>
std::span<const T> part(const std::vector<T>& table, layout::Span span)
{
    return std::span(table).subspan(span.first, span.count);
}

// What encloses a field: variable layouts whose offsets add up, and the spaces of parameter blocks.
struct Base
{
    const Base* outer = nullptr;
    const VarLayout* var = nullptr;
    std::uint64_t block_space = 0;

    [[nodiscard]] Base inside(const VarLayout* inner) const { return {this, inner, block_space}; }
};

// The constant buffer that values lie in.
struct Block
{
    std::string name;
    std::uint32_t category = uniform;
    std::uint64_t space = 0;
    std::optional<std::uint64_t> binding;
};

class Walk
{
public:
    explicit Walk(const Blob& blob)
        : blob_(blob)
    {
    }

    Scope scope(Ref reference, std::optional<std::size_t> entry)
    {
        scope_ = {};
        entry_ = entry;
        const VarLayout* const var = at(blob_.var_layouts, reference);
        const TypeLayout* const kind = layout_of(var);
        if (var && kind)
            open(*kind, Base{}.inside(var), Block{}, 0);
        count_ += scope_.fields.size();
        return std::move(scope_);
    }

private:
    // A scope's type: its fields, or a buffer around them.
    void open(const TypeLayout& kind, const Base& base, const Block& block, int level)
    {
        if ((kind.kind != kind_constant_buffer && kind.kind != kind_parameter_block) || level >= most_levels)
            return members(kind, base, "", 0, block, 0);
        const VarLayout* const container = at(blob_.var_layouts, kind.container_var_layout);
        const Block inner = block_in(base.inside(container), container, "");
        const TypeLayout* const element = element_of(kind);
        if (!element)
            return;
        if (const std::uint64_t size = number(size_of(*element, uniform)); size != 0)
            scope_.block = constant_buffer_field("", inner, size, contents(*element));
        open(*element, base.inside(at(blob_.var_layouts, kind.element_var_layout)), inner, level + 1);
    }

    // The variable's own type: its fields count from the variable, those of `element_type_layout` do not always.
    const TypeLayout* element_of(const TypeLayout& kind) const
    {
        const TypeLayout* const own = layout_of(at(blob_.var_layouts, kind.element_var_layout));
        return own ? own : at(blob_.type_layouts, kind.element_type_layout);
    }

    Field constant_buffer_field(
        std::string path, const Block& block, std::uint64_t size, std::optional<Contents> contents) const
    {
        Field made;
        made.path = std::move(path);
        made.entry = entry_;
        made.kind = Kind::constant_buffer;
        made.space = block.space;
        made.binding = block.binding;
        made.category = block.category;
        made.size = size;
        made.contents = std::move(contents);
        return made;
    }

    Block block_in(const Base& base, const VarLayout* container, const std::string& name) const
    {
        Block block;
        block.name = name;
        const TypeLayout* const kind = layout_of(container);
        const std::optional<std::uint32_t> category = kind ? first_taken(*kind) : std::nullopt;
        if (!category)
            return block;
        block.category = *category;
        if (*category != push_constant_buffer)
        {
            block.binding = slot(base, *category);
            block.space = space(base, *category);
        }
        return block;
    }

    void members(
        const TypeLayout& kind, const Base& base, const std::string& path, std::uint64_t at_byte, const Block& block, int level)
    {
        for (const layout::Field& member : part(blob_.fields, kind.fields))
        {
            const VarLayout* const var = at(blob_.var_layouts, member.var_layout);
            --steps_;
            if (var && count_ + scope_.fields.size() < most_fields && level < most_levels && steps_ > 0)
                this->member(*var, base.inside(var), joined(path, *var), at_byte, block, level);
        }
    }

    void member(
        const VarLayout& var, const Base& base, const std::string& path, std::uint64_t above, const Block& block, int level)
    {
        const TypeLayout* const kind = layout_of(&var);
        if (!kind)
            return;
        const std::uint64_t at_byte = add(above, number(offset_of(var, uniform)));
        if (kind->kind == kind_constant_buffer || kind->kind == kind_parameter_block)
            return buffer(*kind, base, path, var, level);
        const std::uint64_t size = number(size_of(*kind, uniform));
        if (size != 0 && !is_resource(*kind))
        {
            Field made;
            made.path = path;
            made.entry = entry_;
            made.kind = Kind::value;
            made.space = block.space;
            made.binding = block.binding;
            made.category = block.category;
            made.block = block.name;
            made.offset = at_byte;
            made.size = size;
            scope_.fields.push_back(std::move(made));
        }
        if (kind->kind == kind_struct)
            members(*kind, base, path, at_byte, block, level + 1);
        else
            resource(*kind, var, base, path);
    }

    void buffer(const TypeLayout& kind, const Base& base, const std::string& path, const VarLayout& var, int level)
    {
        const TypeLayout* const element = element_of(kind);
        if (!element)
            return;
        const VarLayout* const container = at(blob_.var_layouts, kind.container_var_layout);
        Base outside = base;
        if (kind.kind == kind_parameter_block)
        {
            const TypeLayout* const of_container = layout_of(container);
            if (of_container && size_of(*of_container, sub_element_register_space) != 0)
                outside = Base{nullptr, nullptr, add(base.block_space, slot(base, sub_element_register_space))};
        }
        const Block block = block_in(outside.inside(container), container, path);
        const std::uint64_t size = number(size_of(*element, uniform));
        if (size != 0 || size_of(*element, metal_argument_buffer_element) != 0)
            scope_.fields.push_back(constant_buffer_field(
                path, block, size, size != 0 ? std::optional(contents(*element)) : std::nullopt));
        const Base inside = outside.inside(at(blob_.var_layouts, kind.element_var_layout));
        if (element->kind == kind_struct)
            members(*element, inside, path, 0, block, level + 1);
        else
            resource(*element, var, inside, path);
    }

    void resource(const TypeLayout& outer, const VarLayout& var, const Base& base, const std::string& path)
    {
        const TypeLayout* kind = &outer;
        std::uint64_t count = 1;
        for (int level = 0; level < most_levels; ++level)
        {
            const TypeLayout* const element = at(blob_.type_layouts, kind->element_type_layout);
            if (kind->kind != kind_array || !element)
                break;
            const Type* const type = at(blob_.types, kind->type);
            count = multiply(count, type ? number(type->element_count) : 0);
            kind = element;
        }
        const std::optional<Kind> row_kind = kind_of(*kind);
        if (!row_kind)
            return;
        const std::optional<std::uint32_t> category = first_taken(outer);
        const Type* const type = at(blob_.types, kind->type);
        const TypeLayout* const element = at(blob_.type_layouts, kind->element_type_layout);
        Field made;
        made.path = path;
        made.entry = entry_;
        made.kind = *row_kind;
        made.category = category.value_or(uniform);
        made.count = count;
        made.access = type ? type->resource_access : 0;
        made.shape = type ? type->resource_shape : 0;
        made.image_format = var.image_format;
        if (category)
        {
            made.space = space(base, *category);
            made.binding = slot(base, *category);
            made.slots = slots(size_of(outer, *category));
        }
        if (element && (*row_kind == Kind::buffer || *row_kind == Kind::rw_buffer))
            made.contents = contents(*element);
        scope_.fields.push_back(std::move(made));
    }

    std::optional<Kind> kind_of(const TypeLayout& kind) const
    {
        const Type* const type = at(blob_.types, kind.type);
        switch (kind.kind)
        {
        case kind_sampler:
            return Kind::sampler;
        case kind_storage_buffer:
            return Kind::rw_buffer;
        case kind_texture_buffer:
            return Kind::buffer;
        case kind_resource:
            break;
        default:
            return std::nullopt;
        }
        if (!type)
            return std::nullopt;
        const bool is_written = type->resource_access != read_only;
        switch (type->resource_shape & shape_base)
        {
        case 5: // typed, structured and byte-addressed buffers
        case 6:
        case 7:
            return is_written ? Kind::rw_buffer : Kind::buffer;
        case 1: // textures
        case 2:
        case 3:
        case 4:
        case 10:
            if ((type->resource_shape & shape_combined) != 0)
                return Kind::texture_sampler;
            return is_written ? Kind::rw_texture : Kind::texture;
        case 9:
            return Kind::acceleration_structure;
        default:
            return std::nullopt;
        }
    }

    // On CUDA resources are bytes among the values: they are no value for a host.
    bool is_resource(const TypeLayout& outer) const
    {
        const TypeLayout* kind = &outer;
        for (int level = 0; level < most_levels; ++level)
        {
            const TypeLayout* const element = at(blob_.type_layouts, kind->element_type_layout);
            if (kind->kind != kind_array || !element)
                break;
            kind = element;
        }
        return kind_of(*kind).has_value();
    }

    // What a type holds, byte for byte.
    Contents contents(const TypeLayout& kind)
    {
        Contents found;
        leaves(kind, 0, found.leaves, 0);
        found.size = number(size_of(kind, uniform));
        found.truncated = found.leaves.size() > most_leaves;
        std::ranges::sort(found.leaves);
        return found;
    }

    void leaves(const TypeLayout& kind, std::uint64_t at_byte, std::vector<Leaf>& found, int level)
    {
        --steps_;
        if (level > most_levels || found.size() > most_leaves || steps_ < 0)
            return;
        const layout::Resource* const plain = resource_in(kind, uniform);
        const std::uint64_t size = plain ? number(plain->size) : 0;
        if (size == 0)
            return;
        const Type* const type = at(blob_.types, kind.type);
        const TypeLayout* const element = at(blob_.type_layouts, kind.element_type_layout);
        switch (kind.kind)
        {
        case kind_struct:
            for (const layout::Field& member : part(blob_.fields, kind.fields))
            {
                const VarLayout* const var = at(blob_.var_layouts, member.var_layout);
                if (const TypeLayout* const inner = layout_of(var))
                    leaves(*inner, add(at_byte, number(offset_of(*var, uniform))), found, level + 1);
            }
            break;
        case kind_array:
            if (element && type)
                each_element(
                    number(type->element_count),
                    [&](std::uint64_t index)
                    {
                        leaves(*element, add(at_byte, multiply(index, number(plain->element_stride))), found, level + 1);
                    });
            break;
        case kind_vector:
            if (element && type)
            {
                std::uint64_t count = number(type->element_count);
                count = count != 0 ? count : type->column_count;
                const std::uint64_t width = number(size_of(*element, uniform));
                found.push_back(
                    {at_byte, count, width != 0 ? width : size / std::max<std::uint64_t>(count, 1), 0});
            }
            break;
        case kind_matrix:
            if (type)
                matrix(kind, *type, at_byte, number(plain->stride), found);
            break;
        case kind_scalar:
        case kind_pointer:
        case kind_enum:
            found.push_back({at_byte, 1, size, 0});
            break;
        default:
            break;
        }
    }

    void matrix(
        const TypeLayout& kind, const Type& type, std::uint64_t at_byte, std::uint64_t stride, std::vector<Leaf>& found) const
    {
        const bool by_row = kind.matrix_mode == row_major;
        const std::uint32_t vectors = by_row ? type.row_count : type.column_count;
        const std::uint32_t components = by_row ? type.column_count : type.row_count;
        const Type* const element = at(blob_.types, type.element_type);
        const std::uint64_t scalar = bytes_of_scalar(element ? element->scalar_type : type.scalar_type);
        const std::uint64_t step = vectors != 0 ? stride / vectors : 0;
        for (std::uint32_t index = 0; index < std::min(vectors, 4u); ++index)
            found.push_back({add(at_byte, multiply(index, step)), components, scalar, index + 1});
    }

    // Numbers of a layout.

    const layout::Resource* resource_in(const TypeLayout& kind, std::uint32_t category) const
    {
        for (const layout::Resource& resource : part(blob_.resources, kind.resources))
            if (resource.category == category)
                return &resource;
        return nullptr;
    }

    std::uint64_t size_of(const TypeLayout& kind, std::uint32_t category) const
    {
        const layout::Resource* const resource = resource_in(kind, category);
        return resource ? resource->size : 0;
    }

    std::optional<std::uint32_t> first_taken(const TypeLayout& kind) const
    {
        for (const std::uint32_t category : bindings)
            if (size_of(kind, category) != 0)
                return category;
        return std::nullopt;
    }

    static std::uint64_t slots(std::uint64_t size)
    {
        if (size == layout::unbounded_size)
            return std::uint64_t{1} << 32;
        return std::max<std::uint64_t>(number(size), 1);
    }

    const layout::Offset* offset_in(const VarLayout& var, std::uint32_t category) const
    {
        for (const layout::Offset& offset : part(blob_.offsets, var.offsets))
            if (offset.category == category)
                return &offset;
        return nullptr;
    }

    std::uint64_t offset_of(const VarLayout& var, std::uint32_t category) const
    {
        const layout::Offset* const offset = offset_in(var, category);
        return offset ? offset->offset : 0;
    }

    std::uint64_t slot(const Base& base, std::uint32_t category) const
    {
        std::uint64_t sum = 0;
        for (const Base* one = &base; one; one = one->outer)
            if (one->var)
                sum = add(sum, number(offset_of(*one->var, category)));
        return sum;
    }

    std::uint64_t space(const Base& base, std::uint32_t category) const
    {
        std::uint64_t sum = base.block_space;
        for (const Base* one = &base; one; one = one->outer)
            if (const layout::Offset* const offset = one->var ? offset_in(*one->var, category) : nullptr)
                sum = add(sum, number(offset->space));
        return sum;
    }

    const TypeLayout* layout_of(const VarLayout* var) const
    {
        return var ? at(blob_.type_layouts, var->type_layout) : nullptr;
    }

    std::string joined(const std::string& path, const VarLayout& var) const
    {
        const layout::Variable* const variable = at(blob_.variables, var.variable);
        const std::string* const name = variable ? at(blob_.strings, variable->name) : nullptr;
        if (!name || name->empty())
            return path;
        return path.empty() ? *name : path + "." + *name;
    }

    const Blob& blob_;
    Scope scope_;
    std::optional<std::size_t> entry_;
    std::size_t count_ = 0; // fields of earlier scopes
    std::int64_t steps_ = most_steps; // a file may describe structs that hold each other many times over
};

} // namespace

Fields fields_of(const Blob& blob)
{
    Walk walk(blob);
    Fields found;
    for (std::size_t entry = 0; entry < blob.entry_points.size(); ++entry)
        found.entries.push_back(walk.scope(blob.entry_points[entry].var_layout, entry));
    found.globals = walk.scope(blob.program.globals_var_layout, std::nullopt);
    return found;
}

std::optional<std::uint64_t> inputs_end(const Blob& blob, const layout::EntryPoint& entry)
{
    std::uint64_t end = 0;
    for (const Ref parameter : part(blob.parameters, entry.parameters))
    {
        const VarLayout* const var = at(blob.var_layouts, parameter);
        const TypeLayout* const kind = var ? at(blob.type_layouts, var->type_layout) : nullptr;
        std::uint64_t size = 0;
        std::uint64_t offset = 0;
        if (kind)
            for (const layout::Resource& resource : part(blob.resources, kind->resources))
                if (resource.category == varying_input)
                    size = resource.size;
        if (var)
            for (const layout::Offset& one : part(blob.offsets, var->offsets))
                if (one.category == varying_input)
                    offset = one.offset;
        if (!is_number(size) || !is_number(offset))
            return std::nullopt;
        if (size != 0)
            end = std::max(end, add(offset, size));
    }
    return end;
}

} // namespace dream::check
