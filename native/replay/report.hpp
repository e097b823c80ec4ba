// Calls that a recorded layout cannot answer are told, never answered with a guess.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string_view>

namespace dream::replay
{

// Tells one sentence: to stderr, and to the report function if one is set.
void tell(std::string_view sentence);

// The sentence about a function whose answers no layout holds.
void tell_not_recorded(std::string_view function);

template <std::size_t N>
struct FunctionName
{
    char text[N]{};

    // NOLINTNEXTLINE(google-explicit-constructor): so that a literal can be the template's argument
    constexpr FunctionName(const char (&literal)[N]) { std::copy_n(literal, N, text); }
};

// Tells it once in the process for each function: C functions are asked in loops.
template <FunctionName Name>
void not_recorded()
{
    static std::atomic_flag told;
    if (!told.test_and_set(std::memory_order_relaxed))
        tell_not_recorded(Name.text);
}

// The same with a sentence of its own, made only when it is told.
template <FunctionName Name, class MakeSentence>
void not_recorded(MakeSentence&& make_sentence)
{
    static std::atomic_flag told;
    if (!told.test_and_set(std::memory_order_relaxed))
        tell(make_sentence());
}

} // namespace dream::replay
