// Blobs for tests: one with something in every table, and any number of random right ones.
#pragma once

#include "layout/blob.hpp"

#include <random>

namespace dream::tests
{

// Deterministic: equal everywhere.
[[nodiscard]] layout::Blob sample_blob(const layout::Program* stamp = nullptr);

// A blob that keeps every rule, made of random numbers. With a stamp, it has that one, and is a layout that a host of
// the same slang.h loads: it needs no specialization, and no two entry points share a name.
[[nodiscard]] layout::Blob random_blob(std::mt19937_64& random, const layout::Program* stamp = nullptr);

// Gives every entry point code, and the blob their sizes and digests.
[[nodiscard]] std::vector<std::vector<std::byte>> give_code(layout::Blob& blob, std::mt19937_64& random);

// States the size and the digest that the bytes have, so that reading goes past both checks. Bytes too few for a
// header stay as they are.
void reseal(std::vector<std::byte>& file);

} // namespace dream::tests
