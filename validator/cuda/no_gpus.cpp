// Stands for the CUDA programs where they were not built.
#include "validator/cuda/gpus.h"

namespace hai::validator::gpus {

Found find() { return {.why_none = "no GPU: built without CUDA"}; }
MemoryResult test_memory(int, double, double) { return {.error = "built without CUDA"}; }
GemmResult run_gemm(int, double, double, int) { return {.error = "built without CUDA"}; }
AllReduceResult run_all_reduce(const std::vector<int>&, int64_t, double) {
  return {.error = "built without CUDA"};
}

}  // namespace hai::validator::gpus
