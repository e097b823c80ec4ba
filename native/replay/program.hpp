// A loaded program: an arena of its session, and its own code.
#pragma once

#include "objects.hpp"
#include "replay.hpp"
#include "session.hpp"

#include <vector>

namespace dream::replay
{

class LoadedProgram final : public Counted<LoadedProgram, slang::IComponentType>
{
public:
    // {b3f0a2c4-0a7e-4b43-8d1b-6f3c1f0d5a92}
    static constexpr SlangUUID own_id{0xb3f0a2c4, 0x0a7e, 0x4b43, {0x8d, 0x1b, 0x6f, 0x3c, 0x1f, 0x0d, 0x5a, 0x92}};

    // `description`'s code is in `code`, each entry point's with a NUL behind it.
    LoadedProgram(Com<Session> session, const Arena& arena, std::vector<std::byte> code, Program description);

    [[nodiscard]] const Program& description() const { return description_; }

    SLANG_NO_THROW slang::ISession* SLANG_MCALL getSession() override;
    SLANG_NO_THROW slang::ProgramLayout* SLANG_MCALL getLayout(SlangInt target, slang::IBlob** diagnostics) override;
    SLANG_NO_THROW SlangInt SLANG_MCALL getSpecializationParamCount() override;
    SLANG_NO_THROW SlangResult SLANG_MCALL getEntryPointCode(
        SlangInt entry_point, SlangInt target, slang::IBlob** code, slang::IBlob** diagnostics) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL
    getResultAsFileSystem(SlangInt entry_point, SlangInt target, ISlangMutableFileSystem** file_system) override;
    SLANG_NO_THROW void SLANG_MCALL
    getEntryPointHash(SlangInt entry_point, SlangInt target, slang::IBlob** hash) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL specialize(
        slang::SpecializationArg const* arguments,
        SlangInt count,
        slang::IComponentType** specialized,
        ISlangBlob** diagnostics) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL
    link(slang::IComponentType** linked_program, ISlangBlob** diagnostics) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL getEntryPointHostCallable(
        int entry_point, int target, ISlangSharedLibrary** library, slang::IBlob** diagnostics) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL
    renameEntryPoint(const char* name, slang::IComponentType** entry_point) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL linkWithOptions(
        slang::IComponentType** linked_program,
        uint32_t count,
        slang::CompilerOptionEntry const* options,
        ISlangBlob** diagnostics) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL
    getTargetCode(SlangInt target, slang::IBlob** code, slang::IBlob** diagnostics) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL
    getTargetMetadata(SlangInt target, slang::IMetadata** metadata, slang::IBlob** diagnostics) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL getEntryPointMetadata(
        SlangInt entry_point, SlangInt target, slang::IMetadata** metadata, slang::IBlob** diagnostics) override;

private:
    Com<Session> session_;
    const Arena& arena_; // the session's
    std::vector<std::byte> code_;
    Program description_; // its code is in code_
};

} // namespace dream::replay
