#include "sink.hpp"

#include <utility>

namespace dream::host
{

void Sink::handleMessage(rhi::DebugMessageType type, rhi::DebugMessageSource, const char* message) noexcept
{
    if (message == nullptr || type == rhi::DebugMessageType::Info)
        return;
    const std::scoped_lock guard(mutex_);
    std::string& kept = type == rhi::DebugMessageType::Error ? error_ : warning_;
    if (!kept.empty())
        return;
    try
    {
        kept = message;
        while (kept.ends_with('\n'))
            kept.pop_back();
    }
    catch (...)
    {
        kept.clear(); // no memory for a message; what it is about still fails by its status
    }
}

std::string Sink::take_error()
{
    const std::scoped_lock guard(mutex_);
    if (!error_.empty())
        warning_.clear();
    return std::exchange(error_, {});
}

std::string Sink::take_any()
{
    const std::scoped_lock guard(mutex_);
    std::string first = error_.empty() ? std::move(warning_) : std::move(error_);
    error_.clear();
    warning_.clear();
    return first;
}

} // namespace dream::host
