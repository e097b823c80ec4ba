#include "report.hpp"

#include "replay.hpp"

#include <cstdio>
#include <mutex>

namespace dream::replay
{

namespace
{

std::mutex lock;
Report report = nullptr;
void* report_context = nullptr;

} // namespace

void set_report(Report function, void* context)
{
    const std::lock_guard guard(lock);
    report = function;
    report_context = context;
}

void tell(std::string_view sentence)
{
    const std::string text(sentence);
    Report function = nullptr;
    void* context = nullptr;
    {
        const std::lock_guard guard(lock);
        function = report;
        context = report_context;
    }
    std::fprintf(stderr, "dream replay: %s\n", text.c_str());
    if (function)
        function(text.c_str(), context);
}

void tell_not_recorded(std::string_view function)
{
    tell(
        std::string(function) +
        " was called, and recorded layouts do not hold its answer; it failed, or answered null or 0. No compiler is in "
        "this process: do not depend on it here, ask for it where the shader is compiled");
}

} // namespace dream::replay
