#include "validator/cpu_work.h"

#include <algorithm>

#include <bit>
#include <vector>

#include "validator/stopwatch.h"

namespace hai::validator {

namespace {

constexpr int kSize = 96;
constexpr int kProducts = 4;
constexpr int kMixes = 20'000;

#if defined(__x86_64__)
// The widest vectors that the CPU has: they are what heats it, and what breaks.
#define HAI_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HAI_WIDEST_VECTORS
#endif

// out += a · b. Each element is a sum in the order of k, whatever the width.
HAI_WIDEST_VECTORS
void add_product(const double* a, const double* b, double* out) {
  for (int row = 0; row < kSize; ++row) {
    for (int k = 0; k < kSize; ++k) {
      const double factor = a[row * kSize + k];
      for (int column = 0; column < kSize; ++column)
        out[row * kSize + column] += factor * b[k * kSize + column];
    }
  }
}

uint64_t mixed(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 29;
  x *= 0xc4ceb9fe1a85ec53u;
  return x ^ x >> 32;
}

// All bits of the mantissa in use, magnitude between ½ and 1.
double fraction(uint64_t seed) {
  return std::bit_cast<double>(mixed(seed) >> 12 | 0x3fe0000000000000u);
}

// IEEE 754 leaves no choice: an interpreter that adds one number after the other gives the same.
constexpr uint64_t kExpected[kCpuWorkKinds] = {
    0xd6e03a08f62c366e, 0x2798d33e284371ed, 0x6ffab14e2b748b3d, 0xe311742e5002550b,
    0x28d2dd45ecf58ad2, 0xb1db47a7fd1ed692, 0x83010080de6e039f, 0x3d1fa6ff1966f091,
};

}  // namespace

uint64_t do_cpu_work(int kind) {
  std::vector<double> a(kSize * kSize), b(kSize * kSize), out(kSize * kSize);
  for (int i = 0; i < kSize * kSize; ++i) {
    a[i] = fraction(static_cast<uint64_t>(kind) << 32 | static_cast<uint32_t>(i));
    b[i] = fraction(static_cast<uint64_t>(kind) << 32 | static_cast<uint32_t>(i + kSize * kSize));
  }
  for (int product = 0; product < kProducts; ++product) {
    add_product(a.data(), b.data(), out.data());
    // The quotient keeps the numbers near 1 and the divider busy.
    for (int i = 0; i < kSize * kSize; ++i) a[i] = out[i] / (1 + out[(i * 7) % (kSize * kSize)]);
  }
  uint64_t digest = static_cast<uint64_t>(kind) + 1;
  for (const double value : out) digest = mixed(digest ^ std::bit_cast<uint64_t>(value));
  for (int i = 0; i < kMixes; ++i) digest = mixed(digest + static_cast<uint64_t>(i)) / 3 * 7;
  return digest;
}

uint64_t expected_cpu_work(int kind) { return kExpected[kind]; }

double measure_frequency_gigahertz() {
#if defined(__x86_64__)
  constexpr int kRounds = 100'000;
  double best = 0;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const Stopwatch watch;
    uint64_t x = 0;
    for (int round = 0; round < kRounds; ++round) {
      // Each needs the one before it: one cycle each, on every x86-64 there is.
      asm volatile(
          "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
          "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
          "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
          "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
          : "+r"(x)
          : "r"(uint64_t{1}));
    }
    const double seconds = watch.seconds();
    if (seconds > 0 && x == 16 * uint64_t{kRounds})
      best = std::max(best, static_cast<double>(x) / seconds / 1e9);
  }
  return best;
#else
  return 0;
#endif
}

}  // namespace hai::validator
