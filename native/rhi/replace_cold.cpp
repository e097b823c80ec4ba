// A member function of std::string that GCC 13's libstdc++ added and that the prebuilt slang-rhi, compiled with GCC 14,
// calls. Compiled only where the linker misses it; remove when no supported compiler is older than GCC 13.
//
// Its contract, as its callers need it: inside a string that has room enough, replace the `old_size` characters at
// `place` by the `new_size` characters at `with`, which may lie in that very string, and move the `tail_size` characters
// that follow. The caller sets the length.
#include <cstddef>
#include <cstring>
#include <string>

extern "C" void dream_replace_cold(std::string* self, char* place, std::size_t old_size, const char* with,
                                   std::size_t new_size, std::size_t tail_size)
    __asm__("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm");

extern "C" void dream_replace_cold(std::string*, char* place, std::size_t old_size, const char* with,
                                   std::size_t new_size, std::size_t tail_size)
{
    const std::string kept(with, new_size); // what is about to be moved may be what is asked for
    if (old_size != new_size)
        std::memmove(place + new_size, place + old_size, tail_size);
    std::memcpy(place, kept.data(), new_size);
}
