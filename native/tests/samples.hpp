// Blobs for tests: one with something in every table, and any number of random right ones.
#pragma once

#include "layout/blob.hpp"

#include <random>

namespace dream::tests
{

// Deterministic: equal everywhere.
[[nodiscard]] layout::Blob sample_blob();

// A blob that keeps every rule, made of random numbers.
[[nodiscard]] layout::Blob random_blob(std::mt19937_64& random);

// States the size and the digest that the bytes have, so that reading goes past both checks. Bytes too few for a
// header stay as they are.
void reseal(std::vector<std::byte>& file);

} // namespace dream::tests
