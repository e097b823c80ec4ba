#include "status.hpp"

#include <array>
#include <cstddef>

namespace dream::host
{

namespace
{

constexpr std::array<const char*, 18> names{
    "OK",      "EINVALID", "ESTALE",  "EWRONGDEVICE", "EUNAVAILABLE", "ENOTCOMPILED", "EUNSUPPORTED", "EDEVICELOST",
    "ELAYOUT", "ECODE",    "EENTRY",  "EBINDING",     "ERANGE",       "EMEMORY",      "EDRIVER",      "EPENDING",
    "EINTERNAL", "EBUNDLE"};

thread_local DgpuStatus last_status = DGPU_OK;
thread_local std::string last_error;

} // namespace

void remember(DgpuStatus status, const std::string& detail) noexcept
{
    last_status = status;
    try
    {
        last_error = std::string(dgpu_status_name(status)) + '\n' + detail;
    }
    catch (...)
    {
        last_error.clear(); // no memory for the text: the status alone must do
    }
}

} // namespace dream::host

extern "C" uint32_t dgpu_abi_version(void)
{
    return DGPU_ABI_VERSION;
}

extern "C" const char* dgpu_status_name(DgpuStatus status)
{
    const auto index = static_cast<std::size_t>(status);
    return status >= 0 && index < dream::host::names.size() ? dream::host::names[index] : "?";
}

extern "C" DgpuStatus dgpu_last_status(void)
{
    return dream::host::last_status;
}

extern "C" const char* dgpu_last_error(void)
{
    return dream::host::last_error.c_str();
}
