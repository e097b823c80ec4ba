// Where slang-rhi and the driver put their messages. The first since the last report matters: later ones are usually
// its consequences.
#pragma once

#include <slang-rhi.h>

#include <mutex>
#include <string>

namespace dream::host
{

// Takes messages from any thread.
class Sink final : public rhi::IDebugCallback
{
public:
    void SLANG_MCALL handleMessage(
        rhi::DebugMessageType type, rhi::DebugMessageSource source, const char* message) noexcept override;

    // The first error since the last take, "" for none.
    [[nodiscard]] std::string take_error();

    // The first error, or else the first warning, since the last take.
    [[nodiscard]] std::string take_any();

private:
    std::mutex mutex_;
    std::string error_;
    std::string warning_;
};

} // namespace dream::host
