#include "dump.hpp"

#include "layout/sha256.hpp"
#include "slang/com.hpp"

#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string_view>

namespace dream::tests
{

namespace
{

constexpr std::uint32_t category_count = SLANG_PARAMETER_CATEGORY_COUNT;

std::string text(const char* value)
{
    return value ? std::string("'") + value + "'" : "null";
}

SlangParameterCategory category(std::uint32_t number)
{
    return static_cast<SlangParameterCategory>(number);
}

// Numbers objects as they are met, and hands out each one once.
template <class Node>
class Met
{
public:
    explicit Met(char letter)
        : letter_(letter)
    {
    }
    std::string name(Node* node)
    {
        if (!node)
            return "null";
        const auto [at, is_new] = numbers_.try_emplace(node, numbers_.size());
        if (is_new)
            left_.push_back(node);
        return letter_ + std::to_string(at->second);
    }
    Node* take()
    {
        if (left_.empty())
            return nullptr;
        Node* node = left_.back();
        left_.pop_back();
        return node;
    }

private:
    char letter_;
    std::map<Node*, std::size_t> numbers_;
    std::vector<Node*> left_;
};

class Dumper
{
public:
    Dumper(slang::ProgramLayout* layout, slang::ISession* session, const std::vector<std::string>& names)
        : layout_(layout)
        , session_(session)
        , names_(names)
    {
    }

    std::string run()
    {
        program();
        // Layouts come first, so that every synthesized counter is known before its variable is asked.
        for (;;)
        {
            if (auto* type_layout = type_layouts_.take())
                describe(type_layout);
            else if (auto* var_layout = var_layouts_.take())
                describe(var_layout);
            else if (auto* variable = variables_.take())
                describe(variable);
            else if (auto* type = types_.take())
                describe(type);
            else
                break;
        }
        return out_.str();
    }

private:
    std::string name(slang::TypeReflection* type) { return types_.name(type); }
    std::string name(slang::TypeLayoutReflection* layout) { return type_layouts_.name(layout); }
    std::string name(slang::VariableLayoutReflection* layout) { return var_layouts_.name(layout); }
    std::string name(slang::VariableReflection* variable) { return variables_.name(variable); }

    void program()
    {
        out_ << "globals " << name(layout_->getGlobalParamsTypeLayout()) << ' '
             << name(layout_->getGlobalParamsVarLayout()) << ' ' << layout_->getGlobalConstantBufferBinding() << ' '
             << layout_->getGlobalConstantBufferSize() << " bindless " << layout_->getBindlessSpaceIndex()
             << " type parameters " << layout_->getTypeParameterCount() << " session "
             << (spReflection_GetSession(reinterpret_cast<SlangReflection*>(layout_)) == session_) << '\n';
        for (unsigned i = 0; i < layout_->getParameterCount(); ++i)
            out_ << "parameter " << i << ' ' << name(layout_->getParameterByIndex(i)) << '\n';
        for (SlangUInt i = 0; i < layout_->getEntryPointCount(); ++i)
            entry_point(i);
        for (SlangUInt i = 0; i < layout_->getHashedStringCount(); ++i)
        {
            std::size_t size = 0;
            const char* bytes = layout_->getHashedString(i, &size);
            out_ << "string " << std::string_view(bytes, size) << ' ' << spComputeStringHash(bytes, size) << '\n';
        }
        for (const std::string& wanted : names_)
            out_ << "find type " << wanted << ": " << name(layout_->findTypeByName(wanted.c_str())) << '\n';
    }

    void entry_point(SlangUInt index)
    {
        slang::EntryPointReflection* entry = layout_->getEntryPointByIndex(index);
        SlangUInt size[4] = {};
        entry->getComputeThreadGroupSize(4, size);
        SlangUInt wave = 77; // tells whether it is written
        entry->getComputeWaveSize(&wave);
        out_ << "entry " << text(entry->getName()) << ' ' << text(entry->getNameOverride()) << " found "
             << (layout_->findEntryPointByName(entry->getName()) == entry) << " stage " << entry->getStage()
             << " sample rate " << entry->usesAnySampleRateInput() << " constant buffer "
             << entry->hasDefaultConstantBuffer() << " group " << size[0] << ',' << size[1] << ',' << size[2] << ','
             << size[3] << " wave " << wave << ' ' << name(entry->getVarLayout()) << ' '
             << (entry->getVarLayout() ? name(entry->getTypeLayout()) : "null") << " result " << name(entry->getResultVarLayout()) << '\n';
        for (unsigned i = 0; i < entry->getParameterCount(); ++i)
            out_ << "entry " << index << " parameter " << i << ' ' << name(entry->getParameterByIndex(i)) << '\n';
        if (slang::FunctionReflection* function = entry->getFunction())
            out_ << "function " << text(function->getName()) << " overloaded " << function->isOverloaded() << ' '
                 << function->getOverloadCount() << ' ' << attributes(function) << '\n';
    }

    void describe(slang::TypeReflection* type)
    {
        const std::string n = name(type);
        const std::string full = full_name(type);
        out_ << n << " kind " << static_cast<int>(type->getKind()) << ' ' << text(type->getName()) << ' ' << full << ' '
             << type->getFieldCount() << ' ' << type->getElementCount() << ' '
             << type->getElementCount(reinterpret_cast<SlangReflection*>(layout_)) << ' ' << type->getRowCount() << ' '
             << type->getColumnCount() << ' ' << static_cast<int>(type->getScalarType()) << ' '
             << static_cast<int>(type->getResourceShape()) << ' ' << static_cast<int>(type->getResourceAccess())
             << " element " << name(type->getElementType()) << " result " << name(type->getResourceResultType())
             << " arguments " << spReflectionType_getSpecializedTypeArgCount(reinterpret_cast<SlangReflectionType*>(type))
             << ' ' << attributes(type) << '\n';
        for (unsigned i = 0; i < type->getFieldCount(); ++i)
            out_ << n << " field " << i << ' ' << name(type->getFieldByIndex(i)) << '\n';
        // The compiler ends the process for the struct that it makes of an entry's parameters (2026.12), and no name
        // finds that one.
        if (type->getKind() == slang::TypeReflection::Kind::Struct && !full.empty() &&
            layout_->findTypeByName(full.c_str()) == type)
            out_ << n << " layout " << name(session_->getTypeLayout(type)) << ' ' << name(layout_->getTypeLayout(type))
                 << '\n';
    }

    static std::string full_name(slang::TypeReflection* type)
    {
        Com<ISlangBlob> blob;
        if (SLANG_FAILED(type->getFullName(blob.out())) || !blob)
            return {};
        return {static_cast<const char*>(blob->getBufferPointer()), blob->getBufferSize()};
    }

    void describe(slang::VariableReflection* variable)
    {
        out_ << name(variable) << ' ' << text(variable->getName());
        if (!synthesized_.contains(variable))
        {
            out_ << ' ' << name(variable->getType()) << " modifiers ";
            for (int id = 0; id <= static_cast<int>(SLANG_MODIFIER_INOUT); ++id)
                out_ << (variable->findModifier(static_cast<slang::Modifier::ID>(id)) ? '1' : '0');
            out_ << ' ' << attributes(variable);
        }
        out_ << '\n';
    }

    void describe(slang::TypeLayoutReflection* layout)
    {
        const std::string n = name(layout);
        auto* c_layout = reinterpret_cast<SlangReflectionTypeLayout*>(layout);
        slang::VariableLayoutReflection* counter = layout->getExplicitCounter();
        if (counter)
            synthesized_.insert(counter->getVariable());
        out_ << n << ' ' << static_cast<int>(layout->getKind()) << ' ' << layout->getParameterCategory() << ' '
             << layout->getMatrixLayoutMode() << ' ' << layout->getGenericParamIndex() << ' '
             << layout->getExplicitCounterBindingRangeOffset() << ' ' << name(layout->getType()) << " element "
             << name(layout->getElementTypeLayout()) << ' ' << name(layout->getElementVarLayout()) << " container "
             << name(layout->getContainerVarLayout()) << " counter " << name(counter) << " pending "
             << (spReflectionTypeLayout_getPendingDataTypeLayout(c_layout) != nullptr)
             << (spReflectionTypeLayout_getSpecializedTypePendingDataVarLayout(c_layout) != nullptr) << '\n';
        for (std::uint32_t c = 0; c < category_count; ++c)
            out_ << n << " category " << c << ": " << layout->getSize(category(c)) << ' '
                 << layout->getStride(category(c)) << ' ' << layout->getElementStride(category(c)) << ' '
                 << layout->getAlignment(category(c)) << '\n';
        for (unsigned i = 0; i < layout->getCategoryCount(); ++i)
            out_ << n << " takes " << layout->getCategoryByIndex(i) << '\n';
        for (unsigned i = 0; i < layout->getFieldCount(); ++i)
            out_ << n << " field " << i << ' ' << name(layout->getFieldByIndex(i)) << ' '
                 << layout->getFieldBindingRangeOffset(i) << '\n';
        for (SlangInt i = 0; i < layout->getBindingRangeCount(); ++i)
            binding_range(n, layout, i);
        for (SlangInt i = 0; i < layout->getDescriptorSetCount(); ++i)
        {
            out_ << n << " set " << i << ": " << layout->getDescriptorSetSpaceOffset(i) << ':';
            for (SlangInt r = 0; r < layout->getDescriptorSetDescriptorRangeCount(i); ++r)
                out_ << ' ' << layout->getDescriptorSetDescriptorRangeIndexOffset(i, r) << ','
                     << layout->getDescriptorSetDescriptorRangeDescriptorCount(i, r) << ','
                     << static_cast<int>(layout->getDescriptorSetDescriptorRangeType(i, r)) << ','
                     << layout->getDescriptorSetDescriptorRangeCategory(i, r);
            out_ << '\n';
        }
        for (SlangInt i = 0; i < layout->getSubObjectRangeCount(); ++i)
            out_ << n << " sub-object " << i << ": " << layout->getSubObjectRangeBindingRangeIndex(i) << ' '
                 << layout->getSubObjectRangeSpaceOffset(i) << ' ' << name(layout->getSubObjectRangeOffset(i)) << '\n';
        for (const std::string& field : names_)
            out_ << n << " find " << field << ": " << layout->findFieldIndexByName(field.c_str()) << ' '
                 << layout->findFieldIndexByName(field.data(), field.data() + field.size()) << '\n';
    }

    void binding_range(const std::string& n, slang::TypeLayoutReflection* layout, SlangInt i)
    {
        slang::TypeLayoutReflection* leaf = layout->getBindingRangeLeafTypeLayout(i);
        slang::VariableReflection* variable = layout->getBindingRangeLeafVariable(i);
        // The compiler ends the process for two of these where there is no leaf (2026.12).
        out_ << n << " range " << i << ": " << static_cast<int>(layout->getBindingRangeType(i)) << ' '
             << (leaf && layout->isBindingRangeSpecializable(i)) << ' ' << layout->getBindingRangeBindingCount(i) << ' '
             << (variable ? static_cast<int>(layout->getBindingRangeImageFormat(i)) : 0) << ' '
             << layout->getBindingRangeDescriptorSetIndex(i) << ' '
             << layout->getBindingRangeFirstDescriptorRangeIndex(i) << ' '
             << layout->getBindingRangeDescriptorRangeCount(i) << ' ' << name(leaf) << ' ' << name(variable) << '\n';
    }

    void describe(slang::VariableLayoutReflection* layout)
    {
        const std::string n = name(layout);
        slang::TypeLayoutReflection* type_layout = layout->getTypeLayout();
        out_ << n << ' ' << layout->getStage() << ' ' << layout->getImageFormat() << ' '
             << text(layout->getSemanticName()) << ' ' << layout->getSemanticIndex() << ' '
             << name(layout->getVariable()) << ' ' << name(type_layout);
        if (type_layout) // the fall-back to other categories reads it
        {
            out_ << " binding " << layout->getBindingIndex() << ' ' << layout->getBindingSpace();
            for (std::uint32_t c = 0; c < category_count; ++c)
                out_ << '\n'
                     << n << " category " << c << ": " << layout->getOffset(category(c)) << ' '
                     << layout->getBindingSpace(category(c));
        }
        out_ << '\n';
    }

    slang::Attribute* find_attribute(slang::TypeReflection* owner, const char* attribute)
    {
        return owner->findUserAttributeByName(attribute);
    }
    template <class Owner>
    slang::Attribute* find_attribute(Owner* owner, const char* attribute)
    {
        return owner->findUserAttributeByName(session_->getGlobalSession(), attribute);
    }

    template <class Owner>
    std::string attributes(Owner* owner)
    {
        std::ostringstream out;
        for (unsigned i = 0; i < owner->getUserAttributeCount(); ++i)
        {
            slang::Attribute* attribute = owner->getUserAttributeByIndex(i);
            out << text(attribute->getName()) << (find_attribute(owner, attribute->getName()) == attribute) << '(';
            // One more than there are, to see how it is refused.
            for (unsigned a = 0; a <= attribute->getArgumentCount(); ++a)
            {
                int n = 0;
                float f = 0;
                std::size_t size = 0;
                out << attribute->getArgumentValueInt(a, &n) << 'i' << n << ' ';
                out << attribute->getArgumentValueFloat(a, &f) << 'f' << f << ' ';
                if (const char* bytes = attribute->getArgumentValueString(a, &size))
                    out << 's' << std::string_view(bytes, size);
                out << ';';
            }
            out << ')';
        }
        return out.str();
    }

    slang::ProgramLayout* layout_;
    slang::ISession* session_;
    const std::vector<std::string>& names_;
    std::ostringstream out_;
    std::set<slang::VariableReflection*> synthesized_;
    Met<slang::TypeReflection> types_{'T'};
    Met<slang::TypeLayoutReflection> type_layouts_{'L'};
    Met<slang::VariableLayoutReflection> var_layouts_{'W'};
    Met<slang::VariableReflection> variables_{'V'};
};

std::string code(slang::IComponentType* program, SlangInt entry)
{
    Com<slang::IBlob> blob;
    const SlangResult result = program->getEntryPointCode(entry, 0, blob.out(), nullptr);
    std::ostringstream out;
    out << "code " << entry << ": " << result;
    if (blob)
    {
        const auto bytes =
            std::span(static_cast<const std::byte*>(blob->getBufferPointer()), blob->getBufferSize());
        out << ' ' << bytes.size() << " bytes ";
        for (const std::uint8_t byte : layout::sha256(bytes))
            out << static_cast<int>(byte) << ' ';
    }
    out << '\n';
    return out.str();
}

} // namespace

std::string dump(slang::ProgramLayout* layout, slang::ISession* session, const std::vector<std::string>& names)
{
    return Dumper(layout, session, names).run();
}

std::string dump(slang::IComponentType* program, const std::vector<std::string>& names)
{
    std::ostringstream out;
    out << "specialization " << program->getSpecializationParamCount() << '\n';
    for (SlangUInt i = 0; i < program->getLayout()->getEntryPointCount(); ++i)
        out << code(program, static_cast<SlangInt>(i));
    return out.str() + dump(program->getLayout(), program->getSession(), names) + dump_edges(program->getLayout());
}

std::string dump_edges(slang::ProgramLayout* program)
{
    std::ostringstream out;
    SlangReflectionType* type = nullptr;
    SlangReflectionVariable* variable = nullptr;
    SlangReflectionVariableLayout* var_layout = nullptr;
    SlangReflectionUserAttribute* attribute = nullptr;
    SlangReflectionEntryPoint* entry = nullptr;
    SlangReflection* none = nullptr;
    int n = 0;
    float f = 0;
    std::size_t size = 7;
    SlangUInt sizes[3] = {7, 7, 7};
    const auto pointer = [](const void* p) { return p ? "something" : "null"; };

    out << "null attribute " << pointer(spReflectionUserAttribute_GetName(attribute)) << ' '
        << spReflectionUserAttribute_GetArgumentCount(attribute) << ' '
        << pointer(spReflectionUserAttribute_GetArgumentType(attribute, 0)) << ' '
        << spReflectionUserAttribute_GetArgumentValueInt(attribute, 0, &n) << ' '
        << spReflectionUserAttribute_GetArgumentValueFloat(attribute, 0, &f) << ' '
        << pointer(spReflectionUserAttribute_GetArgumentValueString(attribute, 0, &size)) << ' ' << size << '\n';
    out << "null type " << spReflectionType_GetKind(type) << ' ' << spReflectionType_GetUserAttributeCount(type) << ' '
        << pointer(spReflectionType_GetUserAttribute(type, 0)) << ' '
        << pointer(spReflectionType_FindUserAttributeByName(type, "x")) << ' ' << spReflectionType_GetFieldCount(type)
        << ' ' << pointer(spReflectionType_GetFieldByIndex(type, 0)) << ' ' << spReflectionType_GetElementCount(type)
        << ' ' << spReflectionType_GetSpecializedElementCount(type, none) << ' '
        << pointer(spReflectionType_GetElementType(type)) << ' ' << spReflectionType_GetRowCount(type) << ' '
        << spReflectionType_GetColumnCount(type) << ' ' << spReflectionType_GetScalarType(type) << ' '
        << spReflectionType_GetResourceShape(type) << ' ' << spReflectionType_GetResourceAccess(type) << ' '
        << pointer(spReflectionType_GetResourceResultType(type)) << ' '
        << spReflectionType_getSpecializedTypeArgCount(type) << ' '
        << pointer(spReflectionType_getSpecializedTypeArgType(type, 0)) << '\n';
    out << "null variable " << pointer(spReflectionVariable_GetName(variable)) << ' '
        << pointer(spReflectionVariable_GetType(variable)) << ' '
        << pointer(spReflectionVariable_FindModifier(variable, SLANG_MODIFIER_CONST)) << ' '
        << spReflectionVariable_GetUserAttributeCount(variable) << ' '
        << pointer(spReflectionVariable_GetUserAttribute(variable, 0)) << '\n';
    out << "null variable layout " << pointer(spReflectionVariableLayout_GetVariable(var_layout)) << ' '
        << pointer(spReflectionVariableLayout_GetTypeLayout(var_layout)) << ' '
        << spReflectionVariableLayout_GetOffset(var_layout, SLANG_PARAMETER_CATEGORY_UNIFORM) << ' '
        << spReflectionVariableLayout_GetSpace(var_layout, SLANG_PARAMETER_CATEGORY_UNIFORM) << ' '
        << spReflectionVariableLayout_GetImageFormat(var_layout) << ' '
        << pointer(spReflectionVariableLayout_GetSemanticName(var_layout)) << ' '
        << spReflectionVariableLayout_GetSemanticIndex(var_layout) << ' '
        << spReflectionVariableLayout_getStage(var_layout) << ' '
        << pointer(spReflectionVariableLayout_getPendingDataLayout(var_layout)) << '\n';
    spReflectionEntryPoint_getComputeThreadGroupSize(entry, 3, sizes);
    out << "null entry point " << pointer(spReflectionEntryPoint_getName(entry)) << ' '
        << pointer(spReflectionEntryPoint_getNameOverride(entry)) << ' '
        << pointer(spReflectionEntryPoint_getFunction(entry)) << ' ' << spReflectionEntryPoint_getParameterCount(entry)
        << ' ' << pointer(spReflectionEntryPoint_getParameterByIndex(entry, 0)) << ' '
        << spReflectionEntryPoint_getStage(entry) << ' ' << sizes[0] << sizes[1] << sizes[2] << ' '
        << spReflectionEntryPoint_usesAnySampleRateInput(entry) << ' '
        << pointer(spReflectionEntryPoint_getVarLayout(entry)) << ' '
        << pointer(spReflectionEntryPoint_getResultVarLayout(entry)) << ' '
        << spReflectionEntryPoint_hasDefaultConstantBuffer(entry) << '\n';
    out << "null program " << spReflection_GetParameterCount(none) << ' '
        << pointer(spReflection_GetParameterByIndex(none, 0)) << ' ' << spReflection_getEntryPointCount(none) << ' '
        << pointer(spReflection_getEntryPointByIndex(none, 0)) << ' '
        << pointer(spReflection_findEntryPointByName(none, "main")) << ' '
        << spReflection_getGlobalConstantBufferBinding(none) << ' ' << spReflection_getGlobalConstantBufferSize(none)
        << ' ' << spReflection_getBindlessSpaceIndex(none) << ' '
        << pointer(spReflection_getGlobalParamsTypeLayout(none)) << ' '
        << pointer(spReflection_getGlobalParamsVarLayout(none)) << '\n';
    out << "no entry point of a name " << pointer(program->findEntryPointByName("no such entry")) << ' '
        << pointer(program->findEntryPointByName("")) << '\n';

    auto* globals = reinterpret_cast<SlangReflectionTypeLayout*>(program->getGlobalParamsTypeLayout());
    for (SlangReflectionTypeLayout* layout : {static_cast<SlangReflectionTypeLayout*>(nullptr), globals})
    {
        if (!layout)
            out << "null type layout " << pointer(spReflectionTypeLayout_GetType(layout)) << ' '
                << spReflectionTypeLayout_getKind(layout) << ' ' << spReflectionTypeLayout_GetFieldCount(layout) << ' '
                << pointer(spReflectionTypeLayout_GetFieldByIndex(layout, 0)) << ' '
                << spReflectionTypeLayout_findFieldIndexByName(layout, "x", nullptr) << ' '
                << pointer(spReflectionTypeLayout_GetElementTypeLayout(layout)) << ' '
                << pointer(spReflectionTypeLayout_GetElementVarLayout(layout)) << ' '
                << pointer(spReflectionTypeLayout_getContainerVarLayout(layout)) << ' '
                << pointer(spReflectionTypeLayout_GetExplicitCounter(layout)) << ' '
                << spReflectionTypeLayout_GetParameterCategory(layout) << ' '
                << spReflectionTypeLayout_GetCategoryCount(layout) << ' '
                << spReflectionTypeLayout_GetCategoryByIndex(layout, 0) << ' '
                << spReflectionTypeLayout_GetMatrixLayoutMode(layout) << ' '
                << spReflectionTypeLayout_getGenericParamIndex(layout) << ' '
                << spReflectionTypeLayout_getBindingRangeCount(layout) << ' '
                << spReflectionTypeLayout_getDescriptorSetCount(layout) << ' '
                << spReflectionTypeLayout_getSubObjectRangeCount(layout) << ' '
                << spReflectionTypeLayout_getFieldBindingRangeOffset(layout, 0) << ' '
                << spReflectionTypeLayout_getExplicitCounterBindingRangeOffset(layout) << '\n';
        // Categories that slang.h does not have.
        for (const auto c : {category_count, category_count + 1, 1000u})
            out << "category " << c << ' ' << spReflectionTypeLayout_GetSize(layout, category(c)) << ' '
                << spReflectionTypeLayout_GetStride(layout, category(c)) << ' '
                << spReflectionTypeLayout_GetElementStride(layout, category(c)) << ' '
                << spReflectionTypeLayout_getAlignment(layout, category(c)) << '\n';
        const SlangInt ranges = spReflectionTypeLayout_getBindingRangeCount(layout);
        const SlangInt sets = spReflectionTypeLayout_getDescriptorSetCount(layout);
        const SlangInt subs = spReflectionTypeLayout_getSubObjectRangeCount(layout);
        for (const SlangInt beyond : {SlangInt{-1}, SlangInt{0}, SlangInt{1}, SlangInt{1} << 40})
        {
            const SlangInt range = beyond < 0 ? beyond : ranges + beyond;
            const SlangInt set = beyond < 0 ? beyond : sets + beyond;
            const SlangInt sub = beyond < 0 ? beyond : subs + beyond;
            out << "beyond " << beyond << ' ' << spReflectionTypeLayout_getBindingRangeType(layout, range) << ' '
                << spReflectionTypeLayout_isBindingRangeSpecializable(layout, range) << ' '
                << spReflectionTypeLayout_getBindingRangeBindingCount(layout, range) << ' '
                << pointer(spReflectionTypeLayout_getBindingRangeLeafTypeLayout(layout, range)) << ' '
                << pointer(spReflectionTypeLayout_getBindingRangeLeafVariable(layout, range)) << ' '
                << spReflectionTypeLayout_getBindingRangeImageFormat(layout, range) << ' '
                << spReflectionTypeLayout_getBindingRangeDescriptorSetIndex(layout, range) << ' '
                << spReflectionTypeLayout_getBindingRangeFirstDescriptorRangeIndex(layout, range) << ' '
                << spReflectionTypeLayout_getBindingRangeDescriptorRangeCount(layout, range) << ' '
                << spReflectionTypeLayout_getDescriptorSetSpaceOffset(layout, set) << ' '
                << spReflectionTypeLayout_getDescriptorSetDescriptorRangeCount(layout, set) << ' '
                << spReflectionTypeLayout_getSubObjectRangeBindingRangeIndex(layout, sub) << ' '
                << spReflectionTypeLayout_getSubObjectRangeSpaceOffset(layout, sub) << ' '
                << pointer(spReflectionTypeLayout_getSubObjectRangeOffset(layout, sub)) << '\n';
            const SlangInt in_set = spReflectionTypeLayout_getDescriptorSetDescriptorRangeCount(layout, 0);
            const SlangInt index = beyond < 0 ? beyond : in_set + beyond;
            out << "beyond " << beyond << " in set "
                << spReflectionTypeLayout_getDescriptorSetDescriptorRangeIndexOffset(layout, 0, index) << ' '
                << spReflectionTypeLayout_getDescriptorSetDescriptorRangeDescriptorCount(layout, 0, index) << ' '
                << spReflectionTypeLayout_getDescriptorSetDescriptorRangeType(layout, 0, index) << ' '
                << spReflectionTypeLayout_getDescriptorSetDescriptorRangeCategory(layout, 0, index) << ' '
                << spReflectionTypeLayout_getDescriptorSetDescriptorRangeType(layout, set, 0) << '\n';
        }
    }
    return out.str();
}

} // namespace dream::tests
