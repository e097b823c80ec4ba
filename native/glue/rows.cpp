#include "rows.hpp"

#include "status.hpp"

#include "slang/offsets.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace dream::host
{

namespace
{

using slang::TypeLayoutReflection;
using slang::VariableLayoutReflection;
using TypeKind = slang::TypeReflection::Kind;

bool is_texture(SlangResourceShape shape)
{
    switch (shape & SLANG_RESOURCE_BASE_SHAPE_MASK)
    {
    case SLANG_TEXTURE_1D:
    case SLANG_TEXTURE_2D:
    case SLANG_TEXTURE_3D:
    case SLANG_TEXTURE_CUBE:
        return true;
    default:
        return false;
    }
}

DgpuRowKind kind_of_resource(TypeLayoutReflection& type)
{
    if (type.getKind() == TypeKind::SamplerState)
        return DGPU_ROW_SAMPLER;
    if (type.getKind() == TypeKind::ShaderStorageBuffer)
        return DGPU_ROW_RW_BUFFER;
    if (type.getKind() != TypeKind::Resource)
        return 0;
    const bool is_written = type.getResourceAccess() != SLANG_RESOURCE_ACCESS_READ;
    const SlangResourceShape shape = type.getResourceShape();
    if (is_texture(shape))
    {
        if ((shape & SLANG_TEXTURE_COMBINED_FLAG) != 0)
            return DGPU_ROW_TEXTURE_SAMPLER;
        return is_written ? DGPU_ROW_RW_TEXTURE : DGPU_ROW_TEXTURE;
    }
    switch (shape & SLANG_RESOURCE_BASE_SHAPE_MASK)
    {
    case SLANG_STRUCTURED_BUFFER:
    case SLANG_BYTE_ADDRESS_BUFFER:
    case SLANG_TEXTURE_BUFFER:
        return is_written ? DGPU_ROW_RW_BUFFER : DGPU_ROW_BUFFER;
    default:
        return 0;
    }
}

class Walker
{
public:
    Walker(std::vector<Field>& fields, std::optional<std::uint32_t> entry)
        : fields_(fields)
    {
        here_.entry = entry;
    }

    // A scope's parameters: a struct, or a constant buffer around one where some of them are plain data.
    void scope(VariableLayoutReflection& variable)
    {
        TypeLayoutReflection* type = variable.getTypeLayout();
        if (type == nullptr)
            return;
        Offsets base = Offsets{}.inside(&variable);
        Offsets block = base;
        while (type->getKind() == TypeKind::ConstantBuffer || type->getKind() == TypeKind::ParameterBlock)
        {
            block = base.inside(type->getContainerVarLayout());
            base = base.inside(type->getElementVarLayout());
            type = contents_of(*type);
            if (type == nullptr)
                return;
        }
        block_ = block;
        members(*type, base, "");
    }

private:
    void members(TypeLayoutReflection& type, const Offsets& base, const std::string& path)
    {
        for (unsigned i = 0; i < type.getFieldCount(); ++i)
        {
            VariableLayoutReflection* const variable = type.getFieldByIndex(i);
            const rhi::ShaderOffset outer = here_.offset;
            here_.offset.uniformOffset += static_cast<std::uint32_t>(variable->getOffset());
            here_.offset.bindingRangeIndex +=
                static_cast<std::uint32_t>(type.getFieldBindingRangeOffset(static_cast<SlangInt>(i)));
            member(*variable, base.inside(variable), joined(path, variable->getName()));
            here_.offset = outer;
        }
    }

    void member(VariableLayoutReflection& variable, const Offsets& base, const std::string& path)
    {
        TypeLayoutReflection* type = variable.getTypeLayout();
        if (type == nullptr)
            return;
        if (type->getKind() == TypeKind::ConstantBuffer || type->getKind() == TypeKind::ParameterBlock)
        {
            block(*type, base, path);
            return;
        }
        const std::uint64_t plain_bytes = type->getSize();
        if (plain_bytes != 0 && plain_bytes < SLANG_UNKNOWN_SIZE)
        {
            Field field = made(DGPU_ROW_VALUE, path);
            field.binding = block_.binding(slang::ParameterCategory::DescriptorTableSlot);
            field.space = block_.space(slang::ParameterCategory::DescriptorTableSlot);
            field.offset_bytes = here_.offset.uniformOffset;
            field.size_bytes = plain_bytes;
            fields_.push_back(std::move(field));
        }
        if (type->getKind() == TypeKind::Struct)
            members(*type, base, path);
        else if (type->getKind() == TypeKind::Array)
            array(*type, base, path);
        else
            resource(*type, *type, 1, base, path);
    }

    // Resources are one field together. Structs that hold some are named one by one: "layers[1].albedo".
    void array(TypeLayoutReflection& outer, const Offsets& base, const std::string& path)
    {
        TypeLayoutReflection* type = &outer;
        std::uint64_t count = 1;
        while (type->getKind() == TypeKind::Array && type->getElementTypeLayout() != nullptr)
        {
            count *= type->getElementCount();
            type = type->getElementTypeLayout();
        }
        if (type->getKind() != TypeKind::Struct)
            resource(*type, outer, count, base, path);
        else if (type->getBindingRangeCount() != 0)
            elements(outer, base, path);
    }

    // require_bindable has refused arrays in arrays.
    void elements(TypeLayoutReflection& type, const Offsets& base, const std::string& path)
    {
        const auto count = static_cast<std::uint32_t>(type.getElementCount());
        const auto stride = static_cast<std::uint32_t>(type.getElementStride(SLANG_PARAMETER_CATEGORY_UNIFORM));
        const rhi::ShaderOffset outer = here_.offset;
        for (std::uint32_t i = 0; i < count; ++i)
        {
            here_.offset.uniformOffset = outer.uniformOffset + i * stride;
            here_.offset.bindingArrayIndex = i;
            members(*type.getElementTypeLayout(), base, path + '[' + std::to_string(i) + ']');
        }
        here_.offset = outer;
    }

    // `count` of them, in an array of the type `outer` where there are several.
    void resource(
        TypeLayoutReflection& type,
        TypeLayoutReflection& outer,
        std::uint64_t count,
        const Offsets& base,
        const std::string& path)
    {
        const DgpuRowKind kind = kind_of_resource(type);
        if (kind == 0)
            return;
        Field field = made(kind, path);
        const auto category = static_cast<slang::ParameterCategory>(outer.getParameterCategory());
        field.binding = base.binding(category);
        field.space = base.space(category);
        field.count = static_cast<std::uint32_t>(count);
        field.shape = type.getResourceShape();
        field.is_typed_buffer = (field.shape & SLANG_RESOURCE_BASE_SHAPE_MASK) == SLANG_TEXTURE_BUFFER;
        if (field.is_typed_buffer || is_texture(field.shape))
            field.numbers = numbers_of(type.getResourceResultType());
        fields_.push_back(std::move(field));
    }

    // A constant buffer or parameter block: an object of its own, whose plain data is one block.
    void block(TypeLayoutReflection& type, const Offsets& base, const std::string& path)
    {
        TypeLayoutReflection* const element = contents_of(type);
        if (element == nullptr)
            return;
        const Offsets outside = type.getKind() == TypeKind::ParameterBlock ? base.inside_block() : base;
        const Place outer = here_;
        const Offsets outer_block = block_;
        here_.objects.push_back(here_.offset);
        here_.offset = {};
        block_ = outside.inside(type.getContainerVarLayout());

        const std::uint64_t plain_bytes = element->getSize();
        if (plain_bytes != 0 && plain_bytes < SLANG_UNKNOWN_SIZE)
        {
            Field field = made(DGPU_ROW_CONSTANT_BUFFER, path);
            field.binding = block_.binding(slang::ParameterCategory::DescriptorTableSlot);
            field.space = block_.space(slang::ParameterCategory::DescriptorTableSlot);
            field.size_bytes = plain_bytes;
            fields_.push_back(std::move(field));
        }
        const Offsets inside = outside.inside(type.getElementVarLayout());
        if (element->getKind() == TypeKind::Struct)
            members(*element, inside, path);
        else if (element->getKind() == TypeKind::Array)
            array(*element, inside, path);
        else
            resource(*element, *element, 1, inside, path);
        here_ = outer;
        block_ = outer_block;
    }

    [[nodiscard]] Field made(DgpuRowKind kind, const std::string& path) const
    {
        Field field;
        field.place = here_;
        field.kind = kind;
        field.path = path;
        return field;
    }

    std::vector<Field>& fields_;
    Place here_;
    Offsets block_; // of the plain data around
};

// What a row may be besides its own kind: a constant buffer's contents are data like a value's.
bool holds(const Field& field, DgpuRowKind kind)
{
    if (field.kind == kind)
        return true;
    // A read-only row can be a writable parameter that the shader only reads, but never the other way round.
    return (kind == DGPU_ROW_BUFFER && field.kind == DGPU_ROW_RW_BUFFER)
        || (kind == DGPU_ROW_TEXTURE && field.kind == DGPU_ROW_RW_TEXTURE);
}

class Resolver
{
public:
    Resolver(const std::vector<Field>& fields, const std::vector<std::string>& entries)
        : fields_(fields)
        , entries_(entries)
    {
    }

    [[nodiscard]] Row resolve(const DgpuRow& row, const std::string& called) const
    {
        std::optional<std::uint32_t> entry;
        if (row.entry != nullptr)
        {
            const auto at = std::ranges::find(entries_, row.entry);
            if (at == entries_.end())
                throw Failure(
                    DGPU_EENTRY, called + ": the program has no entry point '" + row.entry + "'; it has " + entry_list());
            entry = static_cast<std::uint32_t>(at - entries_.begin());
        }
        const std::string_view name = row.name != nullptr ? row.name : "";

        for (const int step : {1, 2, 3})
        {
            for (const bool in_entry : {true, false})
            {
                for (std::size_t i = 0; i < fields_.size(); ++i)
                {
                    const Field& field = fields_[i];
                    if (field.place.entry.has_value() != in_entry || !holds(field, row.kind))
                        continue;
                    if (in_entry && entry && field.place.entry != entry)
                        continue;
                    if (matches(step, field, row, name, entry))
                    {
                        if (step == 2)
                            require_only(i, row.kind, called);
                        return made(step, i, row, called);
                    }
                }
            }
            if (step == 3 && row.kind == DGPU_ROW_VALUE && row.binding != DGPU_ROW_NO_BINDING)
            {
                if (const std::optional<Row> packed = packed_value(row, called))
                    return *packed;
            }
        }
        throw Failure(DGPU_EBINDING, called + " resolves nowhere. " + what_there_is(row.kind));
    }

private:
    [[nodiscard]] static bool has_binding(const Field& field, const DgpuRow& row)
    {
        return row.binding != DGPU_ROW_NO_BINDING && field.binding == row.binding && field.space == row.space
            && (field.kind != DGPU_ROW_VALUE || field.offset_bytes == row.offset_bytes);
    }

    [[nodiscard]] bool is_named(const Field& field, std::string_view name, std::optional<std::uint32_t> entry) const
    {
        if (name.empty())
            return false;
        if (field.path == name)
            return true;
        return entry && !field.place.entry && field.path == entries_[*entry] + '_' + std::string(name);
    }

    [[nodiscard]] bool matches(
        int step,
        const Field& field,
        const DgpuRow& row,
        std::string_view name,
        std::optional<std::uint32_t> entry) const
    {
        switch (step)
        {
        case 1:
            return is_named(field, name, entry) && has_binding(field, row);
        case 2:
            return is_named(field, name, entry);
        default:
            // A value without a name is a part of a block, which `packed_value` finds.
            return row.kind != DGPU_ROW_VALUE && has_binding(field, row);
        }
    }

    // Parameters of one name in several namespaces, which reflection leaves out.
    void require_only(std::size_t first, DgpuRowKind kind, const std::string& called) const
    {
        const Field& field = fields_[first];
        for (std::size_t i = first + 1; i < fields_.size(); ++i)
        {
            if (fields_[i].path == field.path && fields_[i].place.entry == field.place.entry && holds(fields_[i], kind))
                throw Failure(
                    DGPU_EBINDING,
                    called + " may be several: give its binding, too. " + what_there_is(kind));
        }
    }

    // The part of a uniform block at the row's offset.
    [[nodiscard]] std::optional<Row> packed_value(const DgpuRow& row, const std::string& called) const
    {
        for (std::size_t i = 0; i < fields_.size(); ++i)
        {
            const Field& field = fields_[i];
            const bool is_block = field.kind == DGPU_ROW_CONSTANT_BUFFER || field.kind == DGPU_ROW_VALUE;
            if (!is_block || field.binding != row.binding || field.space != row.space)
                continue;
            if (row.size_bytes == 0)
                throw Failure(
                    DGPU_EBINDING,
                    called + " names no field, so that it must say its size: size_bytes is 0, and its block is '"
                        + field.path + "'");
            if (row.offset_bytes < field.offset_bytes
                || row.offset_bytes - field.offset_bytes > field.size_bytes
                || row.size_bytes > field.size_bytes - (row.offset_bytes - field.offset_bytes))
                continue;
            Row resolved = made(3, i, row, called);
            resolved.place.offset.uniformOffset +=
                static_cast<std::uint32_t>(row.offset_bytes - field.offset_bytes);
            resolved.kind = DGPU_ROW_VALUE;
            resolved.size_bytes = row.size_bytes;
            resolved.path += " + " + std::to_string(row.offset_bytes - field.offset_bytes);
            return resolved;
        }
        return std::nullopt;
    }

    [[nodiscard]] Row made(int step, std::size_t index, const DgpuRow& row, const std::string& called) const
    {
        const Field& field = fields_[index];
        const std::uint32_t wanted = std::max(row.count, 1u);
        const bool is_data = row.kind == DGPU_ROW_VALUE || row.kind == DGPU_ROW_CONSTANT_BUFFER;
        if (!is_data && wanted > field.count)
            throw Failure(
                DGPU_EBINDING,
                called + " has " + std::to_string(wanted) + " elements; '" + field.path + "' has "
                    + std::to_string(field.count));
        if (is_data && wanted != 1)
            throw Failure(DGPU_EBINDING, called + " is data, all of it one element; its count is " + std::to_string(wanted));
        if (is_data && row.size_bytes > field.size_bytes)
            throw Failure(
                DGPU_EBINDING,
                called + " takes " + std::to_string(row.size_bytes) + " bytes; '" + field.path + "' has "
                    + std::to_string(field.size_bytes));
        Row resolved;
        resolved.name = row.name != nullptr ? row.name : "";
        resolved.entry = row.entry != nullptr ? row.entry : "";
        resolved.place = field.place;
        resolved.kind = row.kind;
        resolved.size_bytes = is_data ? (row.size_bytes != 0 ? row.size_bytes : field.size_bytes) : 0;
        resolved.count = field.count;
        resolved.field = index;
        resolved.path = "step " + std::to_string(step) + ": "
            + (field.place.entry ? entries_[*field.place.entry] : std::string("globals")) + '.' + field.path;
        return resolved;
    }

    [[nodiscard]] std::string entry_list() const
    {
        std::string text;
        for (const std::string& name : entries_)
            text += (text.empty() ? "'" : ", '") + name + "'";
        return text.empty() ? "none" : text;
    }

    [[nodiscard]] std::string what_there_is(DgpuRowKind kind) const
    {
        std::string text;
        for (const Field& field : fields_)
        {
            if (!holds(field, kind))
                continue;
            text += (text.empty() ? "'" : ", '")
                + (field.place.entry ? entries_[*field.place.entry] + ": " : std::string()) + field.path + "' (binding "
                + std::to_string(field.binding) + ", space " + std::to_string(field.space) + ')';
        }
        return text.empty() ? std::string("The program has no ") + name_of_row_kind(kind)
                            : "The program has as " + std::string(name_of_row_kind(kind)) + ": " + text;
    }

    const std::vector<Field>& fields_;
    const std::vector<std::string>& entries_;
};

} // namespace

const char* name_of_row_kind(DgpuRowKind kind)
{
    switch (kind)
    {
    case DGPU_ROW_VALUE:
        return "value";
    case DGPU_ROW_CONSTANT_BUFFER:
        return "constant buffer";
    case DGPU_ROW_BUFFER:
        return "buffer";
    case DGPU_ROW_RW_BUFFER:
        return "writable buffer";
    case DGPU_ROW_TEXTURE:
        return "texture";
    case DGPU_ROW_RW_TEXTURE:
        return "writable texture";
    case DGPU_ROW_SAMPLER:
        return "sampler";
    case DGPU_ROW_TEXTURE_SAMPLER:
        return "texture with sampler";
    default:
        return "?";
    }
}

Slang::ComPtr<rhi::IShaderObject> Place::object_in(rhi::IShaderObject* root) const
{
    Slang::ComPtr<rhi::IShaderObject> object(root);
    if (entry)
        object = root->getEntryPoint(*entry);
    for (const rhi::ShaderOffset& step : objects)
    {
        if (!object)
            break;
        object = object->getObject(step);
    }
    return object;
}

std::vector<Field> fields_of(slang::ProgramLayout& program)
{
    std::vector<Field> fields;
    for (SlangUInt i = 0; i < program.getEntryPointCount(); ++i)
    {
        if (VariableLayoutReflection* variable = program.getEntryPointByIndex(i)->getVarLayout())
            Walker(fields, static_cast<std::uint32_t>(i)).scope(*variable);
    }
    if (VariableLayoutReflection* variable = program.getGlobalParamsVarLayout())
        Walker(fields, std::nullopt).scope(*variable);
    return fields;
}

std::vector<Row> resolve(
    const std::vector<Field>& fields,
    const std::vector<std::string>& entries,
    const DgpuRow* rows,
    std::uint32_t row_count)
{
    const Resolver resolver(fields, entries);
    std::vector<Row> resolved;
    std::set<std::pair<std::size_t, std::uint32_t>> taken;
    for (std::uint32_t i = 0; i < row_count; ++i)
    {
        const DgpuRow& row = rows[i];
        std::string called = "row " + std::to_string(i) + " ('" + (row.name != nullptr ? row.name : "") + "', "
            + name_of_row_kind(row.kind);
        if (row.binding != DGPU_ROW_NO_BINDING)
            called += ", binding " + std::to_string(row.binding) + ", space " + std::to_string(row.space);
        called += ')';
        if (row.kind < DGPU_ROW_VALUE || row.kind > DGPU_ROW_TEXTURE_SAMPLER)
            throw Failure(DGPU_EINVALID, called + ": expected a DGPU_ROW_ kind, got " + std::to_string(row.kind));
        Row found = resolver.resolve(row, called);
        if (!taken.emplace(found.field, found.place.offset.uniformOffset).second)
            throw Failure(DGPU_EBINDING, called + " is at the place of an earlier row: " + found.path);
        resolved.push_back(std::move(found));
    }
    return resolved;
}

} // namespace dream::host
