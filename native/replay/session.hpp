// Our global session and sessions: what slang-rhi makes before there is a program.
#pragma once

#include "arena.hpp"
#include "objects.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace dream::replay
{

class GlobalSession final : public Counted<GlobalSession, slang::IGlobalSession>
{
public:
    SLANG_NO_THROW SlangResult SLANG_MCALL
    createSession(slang::SessionDesc const& desc, slang::ISession** session) override;
    SLANG_NO_THROW SlangProfileID SLANG_MCALL findProfile(char const* name) override;
    SLANG_NO_THROW void SLANG_MCALL setDownstreamCompilerPath(SlangPassThrough compiler, char const* path) override;
    SLANG_NO_THROW void SLANG_MCALL
    setDownstreamCompilerPrelude(SlangPassThrough compiler, const char* prelude) override;
    SLANG_NO_THROW void SLANG_MCALL
    getDownstreamCompilerPrelude(SlangPassThrough compiler, ISlangBlob** prelude) override;
    SLANG_NO_THROW const char* SLANG_MCALL getBuildTagString() override;
    SLANG_NO_THROW SlangResult SLANG_MCALL
    setDefaultDownstreamCompiler(SlangSourceLanguage language, SlangPassThrough compiler) override;
    SlangPassThrough SLANG_MCALL getDefaultDownstreamCompiler(SlangSourceLanguage language) override;
    SLANG_NO_THROW void SLANG_MCALL setLanguagePrelude(SlangSourceLanguage language, const char* prelude) override;
    SLANG_NO_THROW void SLANG_MCALL getLanguagePrelude(SlangSourceLanguage language, ISlangBlob** prelude) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL createCompileRequest(slang::ICompileRequest** request) override;
    SLANG_NO_THROW void SLANG_MCALL addBuiltins(char const* path, char const* source) override;
    SLANG_NO_THROW void SLANG_MCALL setSharedLibraryLoader(ISlangSharedLibraryLoader* loader) override;
    SLANG_NO_THROW ISlangSharedLibraryLoader* SLANG_MCALL getSharedLibraryLoader() override;
    SLANG_NO_THROW SlangResult SLANG_MCALL checkCompileTargetSupport(SlangCompileTarget target) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL checkPassThroughSupport(SlangPassThrough compiler) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL compileCoreModule(slang::CompileCoreModuleFlags flags) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL loadCoreModule(const void* module, size_t size) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL saveCoreModule(SlangArchiveType type, ISlangBlob** blob) override;
    SLANG_NO_THROW SlangCapabilityID SLANG_MCALL findCapability(char const* name) override;
    SLANG_NO_THROW void SLANG_MCALL setDownstreamCompilerForTransition(
        SlangCompileTarget source, SlangCompileTarget target, SlangPassThrough compiler) override;
    SLANG_NO_THROW SlangPassThrough SLANG_MCALL
    getDownstreamCompilerForTransition(SlangCompileTarget source, SlangCompileTarget target) override;
    SLANG_NO_THROW void SLANG_MCALL getCompilerElapsedTime(double* total, double* downstream) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL setSPIRVCoreGrammar(char const* path) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL parseCommandLineArguments(
        int count, const char* const* arguments, slang::SessionDesc* desc, ISlangUnknown** allocation) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL
    getSessionDescDigest(slang::SessionDesc* desc, ISlangBlob** digest) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL
    compileBuiltinModule(slang::BuiltinModuleName module, slang::CompileCoreModuleFlags flags) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL
    loadBuiltinModule(slang::BuiltinModuleName module, const void* data, size_t size) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL
    saveBuiltinModule(slang::BuiltinModuleName module, SlangArchiveType type, ISlangBlob** blob) override;
    // The last slot of Slang 2026.12.2; 2026.12 has none there, and so this says neither `override` nor `final`.
    virtual SLANG_NO_THROW SlangResult SLANG_MCALL
    getDownstreamCompilerVersion(SlangPassThrough compiler, int* major, int* minor);
};

class Session final : public Counted<Session, slang::ISession>
{
public:
    // {7c0d6b0e-5b53-4c0e-9d0a-2f5f6a1c8e41}
    static constexpr SlangUUID own_id{0x7c0d6b0e, 0x5b53, 0x4c0e, {0x9d, 0x0a, 0x2f, 0x5f, 0x6a, 0x1c, 0x8e, 0x41}};

    Session(GlobalSession* global, SlangCompileTarget target);

    // What the host of this session runs; unknown where it did not say.
    [[nodiscard]] SlangCompileTarget target() const { return target_; }

    // The arena of a layout, made by `make` unless the session has it already. It lives as long as the session.
    template <class Make>
    const Arena& arena(const layout::Digest& digest, Make&& make)
    {
        const std::lock_guard guard(lock_);
        std::unique_ptr<const Arena>& found = arenas_[digest];
        if (!found)
            found = make();
        return *found;
    }

    SLANG_NO_THROW slang::IGlobalSession* SLANG_MCALL getGlobalSession() override;
    SLANG_NO_THROW slang::IModule* SLANG_MCALL loadModule(const char* name, slang::IBlob** diagnostics) override;
    SLANG_NO_THROW slang::IModule* SLANG_MCALL loadModuleFromSource(
        const char* name, const char* path, slang::IBlob* source, slang::IBlob** diagnostics) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL createCompositeComponentType(
        slang::IComponentType* const* parts,
        SlangInt count,
        slang::IComponentType** composite,
        ISlangBlob** diagnostics) override;
    SLANG_NO_THROW slang::TypeReflection* SLANG_MCALL specializeType(
        slang::TypeReflection* type,
        slang::SpecializationArg const* arguments,
        SlangInt count,
        ISlangBlob** diagnostics) override;
    SLANG_NO_THROW slang::TypeLayoutReflection* SLANG_MCALL getTypeLayout(
        slang::TypeReflection* type, SlangInt target, slang::LayoutRules rules, ISlangBlob** diagnostics) override;
    SLANG_NO_THROW slang::TypeReflection* SLANG_MCALL getContainerType(
        slang::TypeReflection* element, slang::ContainerType container, ISlangBlob** diagnostics) override;
    SLANG_NO_THROW slang::TypeReflection* SLANG_MCALL getDynamicType() override;
    SLANG_NO_THROW SlangResult SLANG_MCALL
    getTypeRTTIMangledName(slang::TypeReflection* type, ISlangBlob** name) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL getTypeConformanceWitnessMangledName(
        slang::TypeReflection* type, slang::TypeReflection* interface_type, ISlangBlob** name) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL getTypeConformanceWitnessSequentialID(
        slang::TypeReflection* type, slang::TypeReflection* interface_type, uint32_t* id) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL createCompileRequest(SlangCompileRequest** request) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL createTypeConformanceComponentType(
        slang::TypeReflection* type,
        slang::TypeReflection* interface_type,
        slang::ITypeConformance** conformance,
        SlangInt id,
        ISlangBlob** diagnostics) override;
    SLANG_NO_THROW slang::IModule* SLANG_MCALL loadModuleFromIRBlob(
        const char* name, const char* path, slang::IBlob* source, slang::IBlob** diagnostics) override;
    SLANG_NO_THROW SlangInt SLANG_MCALL getLoadedModuleCount() override;
    SLANG_NO_THROW slang::IModule* SLANG_MCALL getLoadedModule(SlangInt index) override;
    SLANG_NO_THROW bool SLANG_MCALL isBinaryModuleUpToDate(const char* path, slang::IBlob* blob) override;
    SLANG_NO_THROW slang::IModule* SLANG_MCALL loadModuleFromSourceString(
        const char* name, const char* path, const char* source, slang::IBlob** diagnostics) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL getDynamicObjectRTTIBytes(
        slang::TypeReflection* type, slang::TypeReflection* interface_type, uint32_t* bytes, uint32_t size) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL loadModuleInfoFromIRBlob(
        slang::IBlob* source, SlangInt& version, const char*& compiler, const char*& name) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL
    getDeclSourceLocation(slang::DeclReflection* declaration, slang::SourceLocation* location) override;

private:
    Com<GlobalSession> global_;
    SlangCompileTarget target_;
    std::mutex lock_;
    std::map<layout::Digest, std::unique_ptr<const Arena>> arenas_;
};

} // namespace dream::replay
