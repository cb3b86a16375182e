#pragma once
// As much of CUDA as the validator's programs use, done by the CPU, so that what they compute is
// tested where there is no GPU. Kernels run thread by thread; those with a barrier get real
// threads. Memory is the host's, of a size that the test sets, and the test may touch it between
// two kernels as a broken GPU would.

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __shared__ static  // Blocks run one after the other.
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(n)
#define CUDART_VERSION 13000

using cudaError_t = int;
enum {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorPeerAccessAlreadyEnabled = 704,
};
enum { cudaMemcpyDeviceToHost = 2 };

struct dim3 {
  unsigned x, y;
  dim3(unsigned columns = 1, unsigned rows = 1) : x(columns), y(rows) {}
};
struct uint4 {
  unsigned x, y, z, w;
};
inline thread_local dim3 blockIdx, threadIdx;
inline dim3 gridDim, blockDim;

namespace cpu_cuda {

struct Machine {
  size_t free_bytes = 0;
  std::map<void*, size_t> blocks;  // allocated
  int launches = 0;
  std::function<void(int)> after_launch;  // with how many there were
  std::barrier<>* barrier = nullptr;
};
inline Machine machine;

inline void run_block(const std::function<void()>& kernel, unsigned threads, bool has_barrier) {
  if (!has_barrier) {
    for (unsigned thread = 0; thread < threads; ++thread) {
      threadIdx = dim3(thread);
      kernel();
    }
    return;
  }
  std::barrier<> barrier(threads);
  machine.barrier = &barrier;
  const dim3 block = blockIdx;
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      blockIdx = block;
      threadIdx = dim3(thread);
      kernel();
    });
  }
  for (std::thread& thread : running) thread.join();
}

// Kernels without a barrier take any grid: each thread strides over what is left.
inline void launch(const std::function<void()>& kernel, dim3 grid, dim3 block, bool has_barrier) {
  if (!has_barrier) {
    grid = dim3(3);
    block = dim3(8);
  }
  gridDim = grid;
  blockDim = block;
  for (unsigned row = 0; row < grid.y; ++row) {
    for (unsigned column = 0; column < grid.x; ++column) {
      blockIdx = dim3(column, row);
      run_block(kernel, block.x, has_barrier);
    }
  }
  ++machine.launches;
  if (machine.after_launch) machine.after_launch(machine.launches);
}

}  // namespace cpu_cuda

#define HAI_LAUNCH(kernel, grid, threads, ...) \
  cpu_cuda::launch([&] { kernel(__VA_ARGS__); }, grid, threads, false)
#define HAI_LAUNCH_WITH_BARRIER(kernel, grid, threads, ...) \
  cpu_cuda::launch([&] { kernel(__VA_ARGS__); }, grid, threads, true)
inline void __syncthreads() { cpu_cuda::machine.barrier->arrive_and_wait(); }

inline const char* cudaGetErrorString(cudaError_t code) {
  return code == cudaErrorMemoryAllocation ? "out of memory" : "error";
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaMalloc(void** memory, size_t bytes) {
  if (bytes > cpu_cuda::machine.free_bytes) return cudaErrorMemoryAllocation;
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  cpu_cuda::machine.free_bytes -= bytes;
  cpu_cuda::machine.blocks[*memory] = bytes;
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
  cpu_cuda::machine.free_bytes += cpu_cuda::machine.blocks[memory];
  cpu_cuda::machine.blocks.erase(memory);
  std::free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* all_bytes) {
  *free_bytes = *all_bytes = cpu_cuda::machine.free_bytes;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes) {
  return cudaMemset(memory, value, bytes);
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, int) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceEnablePeerAccess(int, int) { return cudaSuccess; }

template <typename T>
T atomicAdd(T* memory, T value) {
  return __atomic_fetch_add(memory, value, __ATOMIC_SEQ_CST);
}
inline unsigned __float_as_uint(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
