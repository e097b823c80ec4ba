#include "record.hpp"

#include "slang/stamp.hpp"
#include "type_names.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace dream::recorder
{

namespace
{

using layout::Ref;
using layout::Span;
using layout::StringRef;

constexpr std::uint32_t category_count = SLANG_PARAMETER_CATEGORY_COUNT;
constexpr int modifier_count = SLANG_MODIFIER_INOUT + 1;

// Numbers objects of the compiler in the order in which they are first met, from 1; null is 0.
template <class T>
class Numbering
{
public:
    Ref operator()(T* object)
    {
        if (!object)
            return 0;
        const auto [at, is_new] = refs_.try_emplace(object, static_cast<Ref>(objects_.size() + 1));
        if (is_new)
            objects_.push_back(object);
        return at->second;
    }
    // The number of an object that was met before, or 0.
    [[nodiscard]] Ref known(T* object) const
    {
        const auto at = refs_.find(object);
        return at == refs_.end() ? 0 : at->second;
    }
    // The next object that was met and not yet taken, or null.
    T* take() { return taken_ < objects_.size() ? objects_[taken_++] : nullptr; }
    [[nodiscard]] const std::vector<T*>& objects() const { return objects_; }

private:
    std::unordered_map<T*, Ref> refs_;
    std::vector<T*> objects_;
    std::size_t taken_ = 0;
};

// Adds `part` behind a side array and answers where it stands.
template <class R>
Span append(std::vector<R>& side, const std::vector<R>& part)
{
    const Span span{static_cast<std::uint32_t>(side.size()), static_cast<std::uint32_t>(part.size())};
    side.insert(side.end(), part.begin(), part.end());
    return span;
}

class Recorder
{
public:
    Recorder(const LinkedProgram& program, const std::map<std::size_t, RecordedCode>& codes)
        : linked_(program)
        , layout_(program.layout)
        , codes_(codes)
    {
    }

    layout::Blob run()
    {
        name_globals();
        program();
        entry_points();
        // Layouts come before variables, so that every synthesized counter is known before its variable is asked.
        for (;;)
        {
            if (auto* type_layout = type_layouts_.take())
                record(type_layout);
            else if (auto* var_layout = var_layouts_.take())
                record(var_layout);
            else if (auto* variable = variables_.take())
                record(variable);
            else if (auto* type = types_.take())
                record(type);
            else
                break;
        }
        type_names();
        attributes();
        hashed_strings();
        if (const auto error = layout::check(blob_))
            throw Rejection("this program's layout cannot be recorded: " + error->message);
        return std::move(blob_);
    }

private:
    StringRef string(std::string_view text)
    {
        const auto [at, is_new] =
            string_refs_.try_emplace(std::string(text), static_cast<StringRef>(blob_.strings.size() + 1));
        if (is_new)
            blob_.strings.emplace_back(text);
        return at->second;
    }
    StringRef string_or_null(const char* text) { return text ? string(text) : 0; }

    // "module::namespace::name" for every variable that a module or a namespace declares: findFieldIndexByName takes
    // such spellings, and the reflection of a variable does not say where it was declared.
    void name_globals()
    {
        for (SlangInt i = 0; i < linked_.session->getLoadedModuleCount(); ++i)
        {
            slang::IModule* module = linked_.session->getLoadedModule(i);
            if (slang::DeclReflection* declaration = module->getModuleReflection())
                name_globals(declaration, module->getName() ? module->getName() : "");
        }
    }
    void name_globals(slang::DeclReflection* scope, const std::string& path)
    {
        for (unsigned int i = 0; i < scope->getChildrenCount(); ++i)
        {
            slang::DeclReflection* child = scope->getChild(i);
            const char* name = child->getName();
            if (!name)
                continue;
            if (child->getKind() == slang::DeclReflection::Kind::Variable)
            {
                if (slang::VariableReflection* variable = child->asVariable())
                    qualified_names_.try_emplace(variable, path + "::" + name);
            }
            else if (child->getKind() == slang::DeclReflection::Kind::Namespace)
                name_globals(child, path + "::" + name);
        }
    }

    void program()
    {
        layout::Program& p = blob_.program;
        stamp(p);
        p.build_tag = string_or_null(linked_.global->getBuildTagString());
        p.recorder_version = recorder_version;
        p.target = static_cast<std::uint32_t>(linked_.target);
        p.matrix_mode = linked_.matrix_mode;
        p.flags = linked_.scalar_layout ? layout::scalar_layout : 0u;
        p.specialization_count = static_cast<std::uint32_t>(linked_.program->getSpecializationParamCount());
        p.globals_type_layout = type_layouts_(layout_->getGlobalParamsTypeLayout());
        p.globals_var_layout = var_layouts_(layout_->getGlobalParamsVarLayout());
        p.global_constant_buffer_binding = layout_->getGlobalConstantBufferBinding();
        p.global_constant_buffer_size = layout_->getGlobalConstantBufferSize();
        p.bindless_space = layout_->getBindlessSpaceIndex();
        std::vector<Ref> parameters;
        for (unsigned int i = 0; i < layout_->getParameterCount(); ++i)
            parameters.push_back(var_layouts_(layout_->getParameterByIndex(i)));
        p.parameters = append(blob_.parameters, parameters);
    }

    void entry_points()
    {
        for (SlangUInt i = 0; i < layout_->getEntryPointCount(); ++i)
        {
            slang::EntryPointReflection* entry = layout_->getEntryPointByIndex(i);
            layout::EntryPoint e;
            e.name = string_or_null(entry->getName());
            e.name_override = string_or_null(entry->getNameOverride());
            e.stage = entry->getStage();
            if (entry->usesAnySampleRateInput())
                e.flags |= layout::sample_rate_input;
            if (entry->hasDefaultConstantBuffer())
                e.flags |= layout::default_constant_buffer;
            std::array<SlangUInt, 3> size{};
            entry->getComputeThreadGroupSize(size.size(), size.data());
            std::ranges::copy(size, e.thread_group_size.begin());
            SlangUInt wave_size = 0;
            entry->getComputeWaveSize(&wave_size);
            e.wave_size = wave_size;
            e.var_layout = var_layouts_(entry->getVarLayout());
            e.result_var_layout = var_layouts_(entry->getResultVarLayout());
            std::vector<Ref> parameters;
            for (unsigned int p = 0; p < entry->getParameterCount(); ++p)
                parameters.push_back(var_layouts_(entry->getParameterByIndex(p)));
            e.parameters = append(blob_.parameters, parameters);
            if (const auto code = codes_.find(i); code != codes_.end())
            {
                e.flags |= layout::code_recorded;
                e.code_size = code->second.size;
                e.code_digest = code->second.digest;
            }
            blob_.entry_points.push_back(e);
        }
    }

    void record(slang::TypeLayoutReflection* source)
    {
        layout::TypeLayout t;
        t.type = types_(source->getType());
        t.kind = static_cast<std::uint32_t>(source->getKind());
        t.parameter_category = source->getParameterCategory();
        t.matrix_mode = source->getMatrixLayoutMode();
        t.generic_param_index = source->getGenericParamIndex();
        t.element_type_layout = type_layouts_(source->getElementTypeLayout());
        t.element_var_layout = var_layouts_(source->getElementVarLayout());
        t.container_var_layout = var_layouts_(source->getContainerVarLayout());
        if (slang::VariableLayoutReflection* counter = source->getExplicitCounter())
        {
            t.explicit_counter = var_layouts_(counter);
            synthesized_.insert(counter->getVariable());
        }
        t.explicit_counter_binding_range_offset = source->getExplicitCounterBindingRangeOffset();

        std::vector<std::uint32_t> categories;
        for (unsigned int i = 0; i < source->getCategoryCount(); ++i)
            categories.push_back(source->getCategoryByIndex(i));
        t.category_order = append(blob_.category_order, categories);

        std::vector<layout::Resource> resources;
        for (std::uint32_t c = 0; c < category_count; ++c)
        {
            const auto category = static_cast<SlangParameterCategory>(c);
            const layout::Resource answer{
                c,
                source->getAlignment(category),
                source->getSize(category),
                source->getStride(category),
                source->getElementStride(category)};
            if (answer != layout::Resource{c, 1, 0, 0, 0})
                resources.push_back(answer);
        }
        t.resources = append(blob_.resources, resources);

        std::vector<layout::Field> fields;
        for (unsigned int i = 0; i < source->getFieldCount(); ++i)
            fields.push_back({var_layouts_(source->getFieldByIndex(i)), source->getFieldBindingRangeOffset(i)});
        t.fields = append(blob_.fields, fields);
        t.binding_ranges = binding_ranges(source);
        t.descriptor_sets = descriptor_sets(source);
        std::vector<layout::SubObjectRange> sub_objects;
        for (SlangInt i = 0; i < source->getSubObjectRangeCount(); ++i)
            sub_objects.push_back(
                {source->getSubObjectRangeBindingRangeIndex(i),
                 static_cast<std::uint64_t>(source->getSubObjectRangeSpaceOffset(i)),
                 var_layouts_(source->getSubObjectRangeOffset(i))});
        t.sub_object_ranges = append(blob_.sub_object_ranges, sub_objects);
        blob_.type_layouts.push_back(t);
    }

    Span binding_ranges(slang::TypeLayoutReflection* source)
    {
        std::vector<layout::BindingRange> ranges;
        for (SlangInt i = 0; i < source->getBindingRangeCount(); ++i)
        {
            layout::BindingRange r;
            r.binding_type = static_cast<std::uint32_t>(source->getBindingRangeType(i));
            r.binding_count = static_cast<std::uint64_t>(source->getBindingRangeBindingCount(i));
            slang::TypeLayoutReflection* leaf = source->getBindingRangeLeafTypeLayout(i);
            slang::VariableReflection* variable = source->getBindingRangeLeafVariable(i);
            r.leaf_type_layout = type_layouts_(leaf);
            r.leaf_variable = variables_(variable);
            // Both getters follow a null pointer where there is no leaf (2026.12).
            if (leaf && source->isBindingRangeSpecializable(i))
                r.flags |= layout::specializable;
            if (variable)
                r.image_format = source->getBindingRangeImageFormat(i);
            r.descriptor_set_index = source->getBindingRangeDescriptorSetIndex(i);
            r.first_descriptor_range = source->getBindingRangeFirstDescriptorRangeIndex(i);
            r.descriptor_range_count = source->getBindingRangeDescriptorRangeCount(i);
            ranges.push_back(r);
        }
        return append(blob_.binding_ranges, ranges);
    }

    Span descriptor_sets(slang::TypeLayoutReflection* source)
    {
        std::vector<layout::DescriptorSet> sets;
        for (SlangInt s = 0; s < source->getDescriptorSetCount(); ++s)
        {
            std::vector<layout::DescriptorRange> ranges;
            for (SlangInt r = 0; r < source->getDescriptorSetDescriptorRangeCount(s); ++r)
                ranges.push_back(
                    {static_cast<std::uint64_t>(source->getDescriptorSetDescriptorRangeIndexOffset(s, r)),
                     static_cast<std::uint64_t>(source->getDescriptorSetDescriptorRangeDescriptorCount(s, r)),
                     static_cast<std::uint32_t>(source->getDescriptorSetDescriptorRangeType(s, r)),
                     source->getDescriptorSetDescriptorRangeCategory(s, r)});
            sets.push_back(
                {static_cast<std::uint64_t>(source->getDescriptorSetSpaceOffset(s)),
                 append(blob_.descriptor_ranges, ranges)});
        }
        return append(blob_.descriptor_sets, sets);
    }

    void record(slang::VariableLayoutReflection* source)
    {
        layout::VarLayout v;
        v.variable = variables_(source->getVariable());
        slang::TypeLayoutReflection* type_layout = source->getTypeLayout();
        v.type_layout = type_layouts_(type_layout);
        v.stage = source->getStage();
        v.image_format = source->getImageFormat();
        v.semantic_name = string_or_null(source->getSemanticName());
        v.semantic_index = source->getSemanticIndex();
        std::vector<layout::Offset> offsets;
        if (type_layout) // the fall-back to other categories reads it
        {
            v.binding_index = source->getBindingIndex();
            v.binding_space = source->getBindingSpace();
            for (std::uint32_t c = 0; c < category_count; ++c)
            {
                const auto category = static_cast<SlangParameterCategory>(c);
                const layout::Offset answer{c, source->getOffset(category), source->getBindingSpace(category)};
                if (answer.offset != 0 || answer.space != 0)
                    offsets.push_back(answer);
            }
        }
        v.offsets = append(blob_.offsets, offsets);
        blob_.var_layouts.push_back(v);
    }

    void record(slang::VariableReflection* source)
    {
        layout::Variable v;
        v.name = string_or_null(source->getName());
        if (const auto name = qualified_names_.find(source); name != qualified_names_.end())
            v.qualified_name = string(name->second);
        // The counter that the compiler adds to an append buffer has a declaration without a type, and asking for
        // that ends the process (2026.12).
        if (!synthesized_.contains(source))
        {
            v.type = types_(source->getType());
            for (int id = 0; id < modifier_count; ++id)
                if (source->findModifier(static_cast<slang::Modifier::ID>(id)))
                    v.modifiers |= 1u << id;
        }
        blob_.variables.push_back(v);
    }

    void record(slang::TypeReflection* source)
    {
        layout::Type t;
        t.kind = static_cast<std::uint32_t>(source->getKind());
        t.scalar_type = static_cast<std::uint32_t>(source->getScalarType());
        t.name = string_or_null(source->getName());
        const std::string full_name = full_name_of(source);
        if (!full_name.empty())
            t.full_name = string(full_name);
        t.element_type = types_(source->getElementType());
        t.row_count = source->getRowCount();
        t.column_count = source->getColumnCount();
        t.resource_shape = source->getResourceShape();
        t.resource_access = source->getResourceAccess();
        t.resource_result_type = types_(source->getResourceResultType());
        t.element_count = source->getElementCount();
        t.specialized_element_count = source->getElementCount(reinterpret_cast<SlangReflection*>(layout_));
        // Laying out the struct that the compiler makes of an entry's parameters ends the process (2026.12). No name
        // finds that one.
        if (source->getKind() == slang::TypeReflection::Kind::Struct && !full_name.empty() &&
            layout_->findTypeByName(full_name.c_str()) == source)
            t.default_layout = type_layouts_(linked_.session->getTypeLayout(source));
        std::vector<Ref> fields;
        for (unsigned int i = 0; i < source->getFieldCount(); ++i)
            fields.push_back(variables_(source->getFieldByIndex(i)));
        t.fields = append(blob_.type_fields, fields);
        blob_.types.push_back(t);
    }

    // Which spellings findTypeByName answers with which recorded type.
    void type_names()
    {
        std::map<std::string, Ref> names;
        const auto offer = [&](const std::string& name)
        {
            if (name.empty() || names.contains(name))
                return;
            if (const Ref type = types_.known(layout_->findTypeByName(name.c_str())))
                names.emplace(name, type);
        };
        for (slang::TypeReflection* type : types_.objects())
        {
            if (type->getKind() == slang::TypeReflection::Kind::None)
                continue;
            for (const std::string& name : spellings_of(full_name_of(type)))
                offer(name);
            if (const char* name = type->getName())
                offer(name);
        }
        for (const auto& [name, type] : names)
            blob_.type_names.push_back({string(name), type});
    }

    // Attributes stand by kind of owner in the blob, so they are read last.
    void attributes()
    {
        for (std::size_t i = 0; i < types_.objects().size(); ++i)
            blob_.types[i].attributes = attributes_of(types_.objects()[i]);
        for (std::size_t i = 0; i < variables_.objects().size(); ++i)
        {
            slang::VariableReflection* variable = variables_.objects()[i];
            Span& span = blob_.variables[i].attributes;
            span = synthesized_.contains(variable) ? append(blob_.attributes, {}) : attributes_of(variable);
        }
        for (std::size_t i = 0; i < blob_.entry_points.size(); ++i)
        {
            slang::FunctionReflection* function = layout_->getEntryPointByIndex(i)->getFunction();
            Span& span = blob_.entry_points[i].attributes;
            span = function ? attributes_of(function) : append(blob_.attributes, {});
        }
    }

    template <class Owner>
    Span attributes_of(Owner* owner)
    {
        std::vector<layout::Attribute> found;
        for (unsigned int i = 0; i < owner->getUserAttributeCount(); ++i)
        {
            slang::Attribute* source = owner->getUserAttributeByIndex(i);
            layout::Attribute a;
            a.name = string_or_null(source->getName());
            std::vector<layout::Argument> arguments;
            for (std::uint32_t n = 0; n < source->getArgumentCount(); ++n)
                arguments.push_back(argument(source, n));
            a.arguments = append(blob_.arguments, arguments);
            found.push_back(a);
        }
        return append(blob_.attributes, found);
    }

    layout::Argument argument(slang::Attribute* source, std::uint32_t index)
    {
        layout::Argument a;
        a.type = types_.known(source->getArgumentType(index));
        int int_value = 0;
        if (SLANG_SUCCEEDED(source->getArgumentValueInt(index, &int_value)))
        {
            a.flags |= layout::has_int;
            a.int_value = int_value;
        }
        float float_value = 0;
        if (SLANG_SUCCEEDED(source->getArgumentValueFloat(index, &float_value)))
        {
            a.flags |= layout::has_float;
            a.float_bits = std::bit_cast<std::uint32_t>(float_value);
        }
        std::size_t size = 0;
        if (const char* text = source->getArgumentValueString(index, &size))
            a.string = string(std::string_view(text, size));
        return a;
    }

    void hashed_strings()
    {
        for (SlangUInt i = 0; i < layout_->getHashedStringCount(); ++i)
        {
            std::size_t size = 0;
            const char* text = layout_->getHashedString(i, &size);
            blob_.hashed_strings.push_back({std::string(text, size), spComputeStringHash(text, size)});
        }
    }

    const LinkedProgram& linked_;
    slang::ProgramLayout* layout_;
    const std::map<std::size_t, RecordedCode>& codes_;
    layout::Blob blob_;
    std::unordered_map<std::string, StringRef> string_refs_;
    std::unordered_map<slang::VariableReflection*, std::string> qualified_names_;
    std::unordered_set<slang::VariableReflection*> synthesized_;
    Numbering<slang::TypeReflection> types_;
    Numbering<slang::TypeLayoutReflection> type_layouts_;
    Numbering<slang::VariableLayoutReflection> var_layouts_;
    Numbering<slang::VariableReflection> variables_;
};

} // namespace

layout::Blob record(const LinkedProgram& program, const std::map<std::size_t, RecordedCode>& codes)
{
    return Recorder(program, codes).run();
}

} // namespace dream::recorder
