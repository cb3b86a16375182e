// Products of large bfloat16 matrices on the tensor cores, always the same one, in an order that is
// fixed by the program: two results that differ in a bit mean a broken chip or broken memory, which
// ECC does not see. Own kernel rather than a library's, whose order may differ by GPU and version.
#include <cuda_bf16.h>
#include <mma.h>

#include <cmath>

#include "validator/cuda/device.h"
#include "validator/cuda/gpus.h"

namespace hai::validator::gpus {

namespace {

using nvcuda::wmma::accumulator;
using nvcuda::wmma::fragment;
using nvcuda::wmma::matrix_a;
using nvcuda::wmma::matrix_b;
using nvcuda::wmma::row_major;

// A block of threads makes 128 × 128 elements, in steps of 32 along k; each of its 8 warps 32 × 64.
constexpr int kTileRows = 128, kTileColumns = 128, kTileDepth = 32;
constexpr int kThreads = 256;
constexpr int kPad = 8;     // Rows of shared memory start at different banks.
constexpr int kVector = 8;  // bfloat16 in 16 bytes

__global__ void __launch_bounds__(kThreads)
    multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, float* out, int size) {
  __shared__ __align__(32) __nv_bfloat16 a_tile[kTileRows][kTileDepth + kPad];
  __shared__ __align__(32) __nv_bfloat16 b_tile[kTileDepth][kTileColumns + kPad];
  const int row = blockIdx.y * kTileRows, column = blockIdx.x * kTileColumns;
  const int warp_row = threadIdx.x / 32 / 2 * 32, warp_column = threadIdx.x / 32 % 2 * 64;
  fragment<accumulator, 16, 16, 16, float> sums[2][4];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) nvcuda::wmma::fill_fragment(sums[i][j], 0.0f);
  for (int k = 0; k < size; k += kTileDepth) {
    for (int v = threadIdx.x; v < kTileRows * kTileDepth / kVector; v += kThreads) {
      const int r = v / (kTileDepth / kVector), c = v % (kTileDepth / kVector) * kVector;
      *reinterpret_cast<uint4*>(&a_tile[r][c]) =
          *reinterpret_cast<const uint4*>(&a[size_t(row + r) * size + k + c]);
    }
    for (int v = threadIdx.x; v < kTileDepth * kTileColumns / kVector; v += kThreads) {
      const int r = v / (kTileColumns / kVector), c = v % (kTileColumns / kVector) * kVector;
      *reinterpret_cast<uint4*>(&b_tile[r][c]) =
          *reinterpret_cast<const uint4*>(&b[size_t(k + r) * size + column + c]);
    }
    __syncthreads();
    for (int depth = 0; depth < kTileDepth; depth += 16) {
      fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> left[2];
      fragment<matrix_b, 16, 16, 16, __nv_bfloat16, row_major> right[4];
      for (int i = 0; i < 2; ++i)
        nvcuda::wmma::load_matrix_sync(left[i], &a_tile[warp_row + i * 16][depth],
                                       kTileDepth + kPad);
      for (int j = 0; j < 4; ++j)
        nvcuda::wmma::load_matrix_sync(right[j], &b_tile[depth][warp_column + j * 16],
                                       kTileColumns + kPad);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
          nvcuda::wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      nvcuda::wmma::store_matrix_sync(
          &out[size_t(row + warp_row + i * 16) * size + column + warp_column + j * 16], sums[i][j],
          size, nvcuda::wmma::mem_row_major);
}

// All bits of the mantissa in use, between −1 and 1.
__host__ __device__ float input_at(uint64_t matrix, uint64_t index) {
  return static_cast<float>(static_cast<int>(mixed(matrix << 40 | index) >> 40) - (1 << 23)) /
         static_cast<float>(1 << 23);
}

__global__ void fill(__nv_bfloat16* values, size_t count, uint64_t matrix) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    values[i] = __float2bfloat16(input_at(matrix, i));
}

// A sum, so that the order of the threads does not matter.
__global__ void add_digest(const float* values, size_t count, unsigned long long* digest) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  unsigned long long sum = 0;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    sum += mixed(uint64_t{__float_as_uint(values[i])} ^ static_cast<uint64_t>(i) << 32);
  atomicAdd(digest, sum);
}

class Products {
 public:
  std::string prepare(int size, double share) {
    size_ = size;
    const size_t elements = size_t(size) * size;
    if (!a_.allocate(elements * 2) || !b_.allocate(elements * 2) || !digest_.allocate(8))
      return "no memory on the GPU";
    HAI_LAUNCH(fill, 1024, 256, a_.as<__nv_bfloat16>(), elements, 1);
    HAI_LAUNCH(fill, 1024, 256, b_.as<__nv_bfloat16>(), elements, 2);
    RETURN_IF_CUDA_ERROR(cudaGetLastError());
    results_ = fill_memory(share, elements * sizeof(float));
    if (results_.empty()) return "no memory is free on the GPU";
    RETURN_IF_CUDA_ERROR(cudaDeviceSynchronize());
    return {};
  }
  size_t count() const { return results_.size(); }
  int64_t bytes() const {
    return static_cast<int64_t>(a_.bytes() + b_.bytes() + results_.size() * results_[0].bytes());
  }

  std::string make(size_t block, unsigned long long* digest) {
    const size_t elements = size_t(size_) * size_;
    float* out = results_[block].as<float>();
    HAI_LAUNCH_WITH_BARRIER(multiply, dim3(size_ / kTileColumns, size_ / kTileRows), kThreads,
                            a_.as<__nv_bfloat16>(), b_.as<__nv_bfloat16>(), out, size_);
    RETURN_IF_CUDA_ERROR(cudaGetLastError());
    RETURN_IF_CUDA_ERROR(cudaMemsetAsync(digest_.as<void>(), 0, 8));
    HAI_LAUNCH(add_digest, 1024, 256, out, elements, digest_.as<unsigned long long>());
    RETURN_IF_CUDA_ERROR(cudaGetLastError());
    RETURN_IF_CUDA_ERROR(cudaMemcpy(digest, digest_.as<void>(), 8, cudaMemcpyDeviceToHost));
    return {};
  }

  // Equal products can all be wrong alike: some elements are computed anew on the CPU.
  std::string sample(size_t block, GemmResult& result) const {
    for (int i = 0; i < 64; ++i) {
      const size_t row = mixed(2 * i) % size_, column = mixed(2 * i + 1) % size_;
      double expected = 0;
      for (int k = 0; k < size_; ++k)
        expected +=
            double{rounded(1, row * size_ + k)} * double{rounded(2, size_t(k) * size_ + column)};
      float got = 0;
      RETURN_IF_CUDA_ERROR(cudaMemcpy(&got, results_[block].as<float>() + row * size_ + column,
                                      sizeof got, cudaMemcpyDeviceToHost));
      // Sums of 8,192 products of this size are a few dozen; float keeps six digits of them.
      if (std::fabs(got - expected) <= 0.05) continue;
      if (result.wrong_samples++ == 0)
        result.first_wrong = "element " + std::to_string(row) + "," + std::to_string(column) +
                             " is " + std::to_string(got) + ", not " + std::to_string(expected);
    }
    return {};
  }

 private:
  static float rounded(uint64_t matrix, size_t index) {
    return __bfloat162float(__float2bfloat16(input_at(matrix, index)));
  }

  int size_ = 0;
  Block a_, b_, digest_;
  std::vector<Block> results_;
};

std::string run(int gpu, double share, double seconds, int size, GemmResult& result) {
  RETURN_IF_CUDA_ERROR(cudaSetDevice(gpu));
  result.size = size;
  Products products;
  if (std::string error = products.prepare(result.size, share); !error.empty()) return error;
  result.bytes = products.bytes();
  const Timer timer;
  while (static_cast<size_t>(result.products) < products.count() || timer.seconds() < seconds) {
    unsigned long long digest = 0;
    const size_t block = static_cast<size_t>(result.products) % products.count();
    if (std::string error = products.make(block, &digest); !error.empty()) return error;
    if (result.products++ == 0) result.digest = digest;
    result.unequal_products += digest != result.digest;
  }
  result.seconds = timer.seconds();
  return products.sample(0, result);
}

}  // namespace

GemmResult run_gemm(int gpu, double share, double seconds, int size) {
  GemmResult result;
  result.error = run(gpu, share, seconds, size, result);
  return result;
}

}  // namespace hai::validator::gpus
