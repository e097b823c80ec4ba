#include "sha256_x86.hpp"

#if defined(__x86_64__) || defined(_M_X64)

#include <immintrin.h>

#ifdef _MSC_VER
#include <intrin.h>
#define DREAM_SHA
#else
#include <cpuid.h>
#define DREAM_SHA __attribute__((target("sha,sse4.1,ssse3")))
#endif

namespace dream::layout::x86
{

bool has_sha256()
{
    // Intel's manual, CPUID: leaf 1 ECX has SSSE3 in bit 9 and SSE4.1 in bit 19, leaf 7 EBX has SHA in bit 29.
    constexpr unsigned ssse3_and_sse41 = (1u << 9) | (1u << 19);
    constexpr unsigned sha = 1u << 29;
#ifdef _MSC_VER
    int first[4]{};
    int seventh[4]{};
    __cpuid(first, 0);
    if (first[0] < 7)
        return false;
    __cpuid(first, 1);
    __cpuidex(seventh, 7, 0);
    return (static_cast<unsigned>(first[2]) & ssse3_and_sse41) == ssse3_and_sse41 &&
        (static_cast<unsigned>(seventh[1]) & sha) != 0;
#else
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & ssse3_and_sse41) != ssse3_and_sse41)
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & sha) != 0;
#endif
}

namespace
{

DREAM_SHA __m128i load(const void* data)
{
    return _mm_loadu_si128(static_cast<const __m128i*>(data));
}

} // namespace

DREAM_SHA void sha256_block(
    std::array<std::uint32_t, 8>& state, const std::array<std::uint32_t, 64>& round_constants, const std::byte* data)
{
    // The instructions want the state as {a, b, e, f} and {c, d, g, h}, the highest word first.
    const __m128i abcd = _mm_shuffle_epi32(load(state.data()), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(load(state.data() + 4), 0x1b);
    const __m128i abef_before = _mm_alignr_epi8(abcd, efgh, 8);
    const __m128i cdgh_before = _mm_blend_epi16(efgh, abcd, 0xf0);
    __m128i abef = abef_before;
    __m128i cdgh = cdgh_before;

    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i words[4]; // the last sixteen of the schedule
    for (std::size_t i = 0; i < 16; ++i)
    {
        __m128i& next = words[i % 4];
        if (i < 4)
            next = _mm_shuffle_epi8(load(data + 16 * i), big_endian);
        else
        {
            const __m128i last = words[(i + 3) % 4];
            const __m128i w7 = _mm_alignr_epi8(last, words[(i + 2) % 4], 4);
            next = _mm_add_epi32(_mm_sha256msg1_epu32(next, words[(i + 1) % 4]), w7);
            next = _mm_sha256msg2_epu32(next, last);
        }
        const __m128i sum = _mm_add_epi32(next, load(round_constants.data() + 4 * i));
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }

    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    void* const out = state.data();
    void* const out_high = state.data() + 4;
    _mm_storeu_si128(static_cast<__m128i*>(out), _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(static_cast<__m128i*>(out_high), _mm_alignr_epi8(dchg, feba, 8));
}

} // namespace dream::layout::x86

#else

namespace dream::layout::x86
{

bool has_sha256()
{
    return false;
}

void sha256_block(std::array<std::uint32_t, 8>&, const std::array<std::uint32_t, 64>&, const std::byte*) {}

} // namespace dream::layout::x86

#endif
