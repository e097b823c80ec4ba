#include "sha256.hpp"

#include "sha256_x86.hpp"

#include <algorithm>
#include <bit>

namespace dream::layout
{

namespace
{

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t load_big_endian(const std::byte* data)
{
    return (std::to_integer<std::uint32_t>(data[0]) << 24) | (std::to_integer<std::uint32_t>(data[1]) << 16) |
           (std::to_integer<std::uint32_t>(data[2]) << 8) | std::to_integer<std::uint32_t>(data[3]);
}

} // namespace

Sha256::Sha256(Way way)
{
    static const bool has_instructions = x86::has_sha256();
    by_instructions_ = way == Way::best && has_instructions;
}

void Sha256::block(const std::byte* data)
{
    if (by_instructions_)
        return x86::sha256_block(state_, round_constants, data);
    std::array<std::uint32_t, 64> w{};
    for (std::size_t t = 0; t < 16; ++t)
        w[t] = load_big_endian(data + 4 * t);
    for (std::size_t t = 16; t < 64; ++t)
    {
        const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
        const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t t = 0; t < 64; ++t)
    {
        const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[t] + w[t];
        const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i)
        state_[i] += added[i];
}

void Sha256::update(std::span<const std::byte> data)
{
    total_bytes_ += data.size();
    if (pending_size_ != 0)
    {
        const std::size_t taken = std::min(data.size(), pending_.size() - pending_size_);
        std::copy_n(data.begin(), taken, pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_));
        pending_size_ += taken;
        data = data.subspan(taken);
        if (pending_size_ < pending_.size())
            return;
        block(pending_.data());
        pending_size_ = 0;
    }
    for (; data.size() >= pending_.size(); data = data.subspan(pending_.size()))
        block(data.data());
    std::copy(data.begin(), data.end(), pending_.begin());
    pending_size_ = data.size();
}

Digest Sha256::finish()
{
    const std::uint64_t total_bits = total_bytes_ * 8;
    std::array<std::byte, 72> tail{std::byte{0x80}};
    const std::size_t zeros = (pending_.size() + 55 - pending_size_) % pending_.size();
    for (std::size_t i = 0; i < 8; ++i)
        tail[1 + zeros + i] = static_cast<std::byte>(total_bits >> (56 - 8 * i));
    update(std::span(tail).first(1 + zeros + 8));
    Digest digest{};
    for (std::size_t i = 0; i < digest.size(); ++i)
        digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
}

Digest sha256(std::span<const std::byte> data)
{
    Sha256 hash;
    hash.update(data);
    return hash.finish();
}

} // namespace dream::layout
