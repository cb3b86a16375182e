#pragma once
// What the CUDA programs do, without CUDA in the interface: built by nvcc where there is one, else
// no_gpus.cpp stands for them. Each call works on one GPU from the calling thread. An error is a
// sentence; "" = none. Plain types only, as nvcc reads this too.

#include <cstdint>
#include <string>
#include <vector>

namespace hai::validator::gpus {

struct Gpu {
  int index = 0;  // as CUDA numbers what it may see
  std::string name;
  int64_t memory_bytes = 0;
};
struct Found {
  std::vector<Gpu> gpus;
  std::string why_none;  // if there are none, but nothing is broken
  std::string error;
};
Found find();

// Fills `share` of the free memory with patterns of both values of every bit and compares every
// byte, again and again for `seconds`, at least once each.
struct MemoryResult {
  std::string error;
  int64_t bytes = 0;
  int passes = 0;
  double seconds = 0;
  uint64_t wrong_words = 0;  // of 8 bytes
  uint64_t first_wrong_at = 0, first_wrong_got = 0, first_wrong_expected = 0;
};
MemoryResult test_memory(int gpu, double share, double seconds);

// The same product of two fixed square matrices of `size`, a multiple of 128, into every block of
// `share` of the free memory, for `seconds`, at least into each once. All must be equal to the bit.
struct GemmResult {
  std::string error;
  int size = 0;  // of the matrices
  int64_t bytes = 0;
  int products = 0;
  double seconds = 0;
  uint64_t digest = 0;  // of the first product
  int unequal_products = 0;
  int wrong_samples = 0;  // elements far from what a CPU computes
  std::string first_wrong;
};
GemmResult run_gemm(int gpu, double share, double seconds, int size);

// A ring all-reduce over all of them by copies from GPU to GPU.
struct AllReduceResult {
  std::string error;
  int64_t bytes = 0;
  int rounds = 0;
  double best_seconds = 0;
  uint64_t wrong_words = 0;
  int wrong_gpu = -1;
  int direct_pairs = 0;  // neighbours that reach each other's memory without the host
};
AllReduceResult run_all_reduce(const std::vector<int>& gpus, int64_t bytes, double seconds);

}  // namespace hai::validator::gpus
