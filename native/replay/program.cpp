#include "program.hpp"

#include "layout/sha256.hpp"

namespace dream::replay
{

LoadedProgram::LoadedProgram(
    Com<Session> session, const Arena& arena, std::vector<std::byte> code, Program description)
    : session_(std::move(session))
    , arena_(arena)
    , code_(std::move(code))
    , description_(std::move(description))
{
}

const Program* describe(slang::IComponentType* program)
{
    const Com<LoadedProgram> ours_ = ours<LoadedProgram>(program);
    return ours_ ? &ours_->description() : nullptr;
}

slang::ISession* LoadedProgram::getSession()
{
    return session_.get();
}

slang::ProgramLayout* LoadedProgram::getLayout(SlangInt target, slang::IBlob** diagnostics)
{
    if (diagnostics)
        *diagnostics = nullptr;
    return target == 0 ? reinterpret_cast<slang::ProgramLayout*>(arena_.handle()) : nullptr;
}

SlangInt LoadedProgram::getSpecializationParamCount()
{
    return 0; // load refuses others
}

SlangResult LoadedProgram::getEntryPointCode(
    SlangInt entry_point, SlangInt target, slang::IBlob** code, slang::IBlob** diagnostics)
{
    if (diagnostics)
        *diagnostics = nullptr;
    if (!code)
        return SLANG_E_INVALID_ARG;
    *code = nullptr;
    if (target != 0 || entry_point < 0 || static_cast<std::size_t>(entry_point) >= description_.entry_points.size())
        return SLANG_E_INVALID_ARG;
    *code = new_shared_blob(description_.entry_points[static_cast<std::size_t>(entry_point)].code, this);
    return *code ? SLANG_OK : SLANG_E_OUT_OF_MEMORY;
}

// A key for slang-rhi's shader cache: which code, and where it stands in which program.
void LoadedProgram::getEntryPointHash(SlangInt entry_point, SlangInt target, slang::IBlob** hash)
{
    if (!hash)
        return;
    *hash = nullptr;
    if (target != 0 || entry_point < 0 || static_cast<std::size_t>(entry_point) >= description_.entry_points.size())
        return;
    const layout::EntryPoint& recorded = arena_.recorded_entry_points[static_cast<std::size_t>(entry_point)];
    layout::Sha256 sum;
    sum.update(std::as_bytes(std::span(arena_.digest)));
    sum.update(std::as_bytes(std::span(recorded.code_digest)));
    sum.update(std::as_bytes(std::span(&entry_point, 1)));
    const layout::Digest digest = sum.finish();
    *hash = new_text_blob({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

SlangResult LoadedProgram::link(slang::IComponentType** linked_program, ISlangBlob** diagnostics)
{
    if (diagnostics)
        *diagnostics = nullptr;
    if (!linked_program)
        return SLANG_E_INVALID_ARG;
    *linked_program = Com<slang::IComponentType>::share(this).detach();
    return SLANG_OK;
}

SlangResult LoadedProgram::linkWithOptions(
    slang::IComponentType** linked_program,
    uint32_t count,
    slang::CompilerOptionEntry const*,
    ISlangBlob** diagnostics)
{
    return count == 0 ? link(linked_program, diagnostics)
                      : refused("IComponentType::linkWithOptions", linked_program);
}

SlangResult LoadedProgram::specialize(
    slang::SpecializationArg const*, SlangInt count, slang::IComponentType** specialized, ISlangBlob** diagnostics)
{
    return count == 0 ? link(specialized, diagnostics) : refused("IComponentType::specialize", specialized);
}

SlangResult LoadedProgram::getResultAsFileSystem(SlangInt, SlangInt, ISlangMutableFileSystem** file_system)
{
    return refused("IComponentType::getResultAsFileSystem", file_system);
}

SlangResult LoadedProgram::getEntryPointHostCallable(int, int, ISlangSharedLibrary** library, slang::IBlob**)
{
    return refused("IComponentType::getEntryPointHostCallable", library);
}

SlangResult LoadedProgram::renameEntryPoint(const char*, slang::IComponentType** entry_point)
{
    return refused("IComponentType::renameEntryPoint", entry_point);
}

SlangResult LoadedProgram::getTargetCode(SlangInt, slang::IBlob** code, slang::IBlob**)
{
    return refused("IComponentType::getTargetCode", code);
}

SlangResult LoadedProgram::getTargetMetadata(SlangInt, slang::IMetadata** metadata, slang::IBlob**)
{
    return refused("IComponentType::getTargetMetadata", metadata);
}

SlangResult LoadedProgram::getEntryPointMetadata(SlangInt, SlangInt, slang::IMetadata** metadata, slang::IBlob**)
{
    return refused("IComponentType::getEntryPointMetadata", metadata);
}

} // namespace dream::replay
