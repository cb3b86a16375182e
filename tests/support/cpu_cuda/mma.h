#pragma once
// Tensor core tiles by the CPU: the first thread of each warp does what the warp does together.
// Addresses that a GPU would refuse end the program.
#include <cuda_bf16.h>

namespace nvcuda::wmma {

struct accumulator {};
struct matrix_a {};
struct matrix_b {};
struct row_major {};
enum { mem_row_major };

template <typename Use, int, int, int, typename T, typename Layout = void>
struct fragment {
  T values[16][16];
};

inline bool is_first_of_warp() { return threadIdx.x % 32 == 0; }
inline void check_alignment(const void* address, unsigned stride) {
  if (reinterpret_cast<uintptr_t>(address) % 32 != 0 || stride % 8 != 0) std::abort();
}

template <typename Fragment>
void fill_fragment(Fragment& tile, float value) {
  if (!is_first_of_warp()) return;
  for (auto& row : tile.values) std::fill(std::begin(row), std::end(row), value);
}

template <typename Fragment>
void load_matrix_sync(Fragment& tile, const __nv_bfloat16* from, unsigned stride) {
  check_alignment(from, stride);
  if (!is_first_of_warp()) return;
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column)
      tile.values[row][column] = from[row * stride + column];
  }
}

template <typename Out, typename Left, typename Right>
void mma_sync(Out& out, const Left& left, const Right& right, const Out& sums) {
  if (!is_first_of_warp()) return;
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      float sum = sums.values[row][column];
      for (int k = 0; k < 16; ++k)
        sum += __bfloat162float(left.values[row][k]) * __bfloat162float(right.values[k][column]);
      out.values[row][column] = sum;
    }
  }
}

template <typename Fragment>
void store_matrix_sync(float* to, const Fragment& tile, unsigned stride, int) {
  check_alignment(to, stride);
  if (!is_first_of_warp()) return;
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column)
      to[row * stride + column] = tile.values[row][column];
  }
}

}  // namespace nvcuda::wmma
