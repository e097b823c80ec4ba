#include "crash.hpp"

#if defined(__unix__) || defined(__APPLE__)

#include <array>
#include <csignal>
#include <cstddef>
#include <string_view>
#include <unistd.h>

namespace dream::recorder
{

namespace
{

constexpr std::string_view sentence =
    "dream-slang-layout: the Slang compiler crashed on this program; nothing was written\n"
    "hint: see whether slangc crashes too, and report it to its makers with the program\n";
constexpr int exit_crashed = 3;

// The stack may be what ran out.
std::array<std::byte, 64 * 1024> spare_stack;

extern "C" void on_crash(int)
{
    // Only what POSIX lets a signal handler do.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, sentence.data(), sentence.size());
    ::_exit(exit_crashed);
}

} // namespace

void explain_crashes()
{
    stack_t stack{};
    stack.ss_sp = spare_stack.data();
    stack.ss_size = spare_stack.size();
    ::sigaltstack(&stack, nullptr);
    struct sigaction action{};
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
        ::sigaction(signal, &action, nullptr);
}

} // namespace dream::recorder

#else

namespace dream::recorder
{

void explain_crashes() {}

} // namespace dream::recorder

#endif
