#include "session.hpp"

#include <new>

namespace dream::replay
{

// --- global session: slang-rhi asks for sessions, ids by name, and times ---

SlangResult GlobalSession::createSession(slang::SessionDesc const& desc, slang::ISession** session)
{
    if (!session)
        return SLANG_E_INVALID_ARG;
    const SlangCompileTarget target = desc.targetCount > 0 ? desc.targets[0].format : SLANG_TARGET_UNKNOWN;
    *session = new (std::nothrow) Session(this, target);
    return *session ? SLANG_OK : SLANG_E_OUT_OF_MEMORY;
}

SlangProfileID GlobalSession::findProfile(char const*)
{
    return SLANG_PROFILE_UNKNOWN; // says how to compile, and nothing is compiled
}

SlangCapabilityID GlobalSession::findCapability(char const*)
{
    return SLANG_CAPABILITY_UNKNOWN; // the same
}

const char* GlobalSession::getBuildTagString()
{
    return "no compiler (dream replay)";
}

void GlobalSession::getCompilerElapsedTime(double* total, double* downstream)
{
    if (total)
        *total = 0;
    if (downstream)
        *downstream = 0;
}

SlangResult GlobalSession::checkCompileTargetSupport(SlangCompileTarget)
{
    return SLANG_E_NOT_IMPLEMENTED; // the right answer: not in this build
}

SlangResult GlobalSession::checkPassThroughSupport(SlangPassThrough)
{
    return SLANG_E_NOT_IMPLEMENTED;
}

void GlobalSession::setDownstreamCompilerPath(SlangPassThrough, char const*)
{
    tell_not_recorded("IGlobalSession::setDownstreamCompilerPath");
}

void GlobalSession::setDownstreamCompilerPrelude(SlangPassThrough, const char*)
{
    tell_not_recorded("IGlobalSession::setDownstreamCompilerPrelude");
}

void GlobalSession::getDownstreamCompilerPrelude(SlangPassThrough, ISlangBlob** prelude)
{
    (void)refused("IGlobalSession::getDownstreamCompilerPrelude", prelude);
}

SlangResult GlobalSession::setDefaultDownstreamCompiler(SlangSourceLanguage, SlangPassThrough)
{
    return refused("IGlobalSession::setDefaultDownstreamCompiler");
}

SlangPassThrough GlobalSession::getDefaultDownstreamCompiler(SlangSourceLanguage)
{
    return SLANG_PASS_THROUGH_NONE;
}

void GlobalSession::setLanguagePrelude(SlangSourceLanguage, const char*)
{
    tell_not_recorded("IGlobalSession::setLanguagePrelude");
}

void GlobalSession::getLanguagePrelude(SlangSourceLanguage, ISlangBlob** prelude)
{
    (void)refused("IGlobalSession::getLanguagePrelude", prelude);
}

SlangResult GlobalSession::createCompileRequest(slang::ICompileRequest** request)
{
    return refused("IGlobalSession::createCompileRequest", request);
}

void GlobalSession::addBuiltins(char const*, char const*)
{
    tell_not_recorded("IGlobalSession::addBuiltins");
}

void GlobalSession::setSharedLibraryLoader(ISlangSharedLibraryLoader*)
{
    tell_not_recorded("IGlobalSession::setSharedLibraryLoader");
}

ISlangSharedLibraryLoader* GlobalSession::getSharedLibraryLoader()
{
    return nullptr; // the default one
}

SlangResult GlobalSession::compileCoreModule(slang::CompileCoreModuleFlags)
{
    return refused("IGlobalSession::compileCoreModule");
}

SlangResult GlobalSession::loadCoreModule(const void*, size_t)
{
    return refused("IGlobalSession::loadCoreModule");
}

SlangResult GlobalSession::saveCoreModule(SlangArchiveType, ISlangBlob** blob)
{
    return refused("IGlobalSession::saveCoreModule", blob);
}

void GlobalSession::setDownstreamCompilerForTransition(SlangCompileTarget, SlangCompileTarget, SlangPassThrough)
{
    tell_not_recorded("IGlobalSession::setDownstreamCompilerForTransition");
}

SlangPassThrough GlobalSession::getDownstreamCompilerForTransition(SlangCompileTarget, SlangCompileTarget)
{
    return SLANG_PASS_THROUGH_NONE;
}

SlangResult GlobalSession::getDownstreamCompilerVersion(SlangPassThrough, int*, int*)
{
    return refused("IGlobalSession::getDownstreamCompilerVersion");
}

SlangResult GlobalSession::setSPIRVCoreGrammar(char const*)
{
    return refused("IGlobalSession::setSPIRVCoreGrammar");
}

SlangResult GlobalSession::parseCommandLineArguments(
    int, const char* const*, slang::SessionDesc*, ISlangUnknown** allocation)
{
    return refused("IGlobalSession::parseCommandLineArguments", allocation);
}

SlangResult GlobalSession::getSessionDescDigest(slang::SessionDesc*, ISlangBlob** digest)
{
    return refused("IGlobalSession::getSessionDescDigest", digest);
}

SlangResult GlobalSession::compileBuiltinModule(slang::BuiltinModuleName, slang::CompileCoreModuleFlags)
{
    return refused("IGlobalSession::compileBuiltinModule");
}

SlangResult GlobalSession::loadBuiltinModule(slang::BuiltinModuleName, const void*, size_t)
{
    return refused("IGlobalSession::loadBuiltinModule");
}

SlangResult GlobalSession::saveBuiltinModule(slang::BuiltinModuleName, SlangArchiveType, ISlangBlob** blob)
{
    return refused("IGlobalSession::saveBuiltinModule", blob);
}

// --- session ---

Session::Session(GlobalSession* global, SlangCompileTarget target)
    : global_(Com<GlobalSession>::share(global))
    , target_(target)
{
}

slang::IGlobalSession* Session::getGlobalSession()
{
    return global_.get();
}

// A linked program is a composite of itself.
SlangResult Session::createCompositeComponentType(
    slang::IComponentType* const* parts, SlangInt count, slang::IComponentType** composite, ISlangBlob** diagnostics)
{
    if (diagnostics)
        *diagnostics = nullptr;
    if (!parts || !composite || count < 1)
        return SLANG_E_INVALID_ARG;
    if (count > 1)
        return refused("ISession::createCompositeComponentType of more than one program", composite);
    *composite = Com<slang::IComponentType>::share(parts[0]).detach();
    return *composite ? SLANG_OK : SLANG_E_INVALID_ARG;
}

slang::TypeLayoutReflection* Session::getTypeLayout(
    slang::TypeReflection* type, SlangInt target, slang::LayoutRules rules, ISlangBlob** diagnostics)
{
    if (diagnostics)
        *diagnostics = nullptr;
    if (!type || target != 0)
        return nullptr;
    return reinterpret_cast<slang::TypeLayoutReflection*>(spReflection_GetTypeLayout(
        nullptr, reinterpret_cast<SlangReflectionType*>(type), static_cast<SlangLayoutRules>(rules)));
}

SlangInt Session::getLoadedModuleCount()
{
    return 0;
}

slang::IModule* Session::getLoadedModule(SlangInt)
{
    return nullptr;
}

slang::IModule* Session::loadModule(const char*, slang::IBlob** diagnostics)
{
    (void)refused("ISession::loadModule", diagnostics);
    return nullptr;
}

slang::IModule* Session::loadModuleFromSource(const char*, const char*, slang::IBlob*, slang::IBlob** diagnostics)
{
    (void)refused("ISession::loadModuleFromSource", diagnostics);
    return nullptr;
}

slang::IModule* Session::loadModuleFromIRBlob(const char*, const char*, slang::IBlob*, slang::IBlob** diagnostics)
{
    (void)refused("ISession::loadModuleFromIRBlob", diagnostics);
    return nullptr;
}

slang::IModule* Session::loadModuleFromSourceString(
    const char*, const char*, const char*, slang::IBlob** diagnostics)
{
    (void)refused("ISession::loadModuleFromSourceString", diagnostics);
    return nullptr;
}

slang::TypeReflection* Session::specializeType(
    slang::TypeReflection*, slang::SpecializationArg const*, SlangInt, ISlangBlob** diagnostics)
{
    (void)refused("ISession::specializeType", diagnostics);
    return nullptr;
}

slang::TypeReflection* Session::getContainerType(slang::TypeReflection*, slang::ContainerType, ISlangBlob** diagnostics)
{
    (void)refused("ISession::getContainerType", diagnostics);
    return nullptr;
}

slang::TypeReflection* Session::getDynamicType()
{
    return refused_null("ISession::getDynamicType");
}

SlangResult Session::getTypeRTTIMangledName(slang::TypeReflection*, ISlangBlob** name)
{
    return refused("ISession::getTypeRTTIMangledName", name);
}

SlangResult Session::getTypeConformanceWitnessMangledName(
    slang::TypeReflection*, slang::TypeReflection*, ISlangBlob** name)
{
    return refused("ISession::getTypeConformanceWitnessMangledName", name);
}

SlangResult Session::getTypeConformanceWitnessSequentialID(slang::TypeReflection*, slang::TypeReflection*, uint32_t*)
{
    return refused("ISession::getTypeConformanceWitnessSequentialID");
}

SlangResult Session::createCompileRequest(SlangCompileRequest** request)
{
    return refused("ISession::createCompileRequest", request);
}

SlangResult Session::createTypeConformanceComponentType(
    slang::TypeReflection*,
    slang::TypeReflection*,
    slang::ITypeConformance** conformance,
    SlangInt,
    ISlangBlob** diagnostics)
{
    if (diagnostics)
        *diagnostics = nullptr;
    return refused("ISession::createTypeConformanceComponentType", conformance);
}

bool Session::isBinaryModuleUpToDate(const char*, slang::IBlob*)
{
    tell_not_recorded("ISession::isBinaryModuleUpToDate");
    return false;
}

SlangResult Session::getDynamicObjectRTTIBytes(slang::TypeReflection*, slang::TypeReflection*, uint32_t*, uint32_t)
{
    return refused("ISession::getDynamicObjectRTTIBytes");
}

SlangResult Session::loadModuleInfoFromIRBlob(slang::IBlob*, SlangInt& version, const char*& compiler, const char*& name)
{
    version = 0;
    compiler = nullptr;
    name = nullptr;
    return refused("ISession::loadModuleInfoFromIRBlob");
}

SlangResult Session::getDeclSourceLocation(slang::DeclReflection*, slang::SourceLocation*)
{
    return refused("ISession::getDeclSourceLocation");
}

} // namespace dream::replay

// --- where slang-rhi begins ---

SlangResult slang_createGlobalSession2(const SlangGlobalSessionDesc*, slang::IGlobalSession** session)
{
    if (!session)
        return SLANG_E_INVALID_ARG;
    *session = new (std::nothrow) dream::replay::GlobalSession();
    return *session ? SLANG_OK : SLANG_E_OUT_OF_MEMORY;
}

SlangResult slang_createGlobalSession(SlangInt, slang::IGlobalSession** session)
{
    return slang_createGlobalSession2(nullptr, session);
}

ISlangBlob* slang_createBlob(const void* data, size_t size)
{
    return data && size ? dream::replay::new_text_blob({static_cast<const char*>(data), size}) : nullptr;
}

void slang_shutdown() {}

const char* slang_getLastInternalErrorMessage()
{
    return "";
}
