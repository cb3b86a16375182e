// A ring all-reduce between the GPUs of a node by copies from GPU to GPU: NVLink or PCIe as an
// application sees them. Values are whole numbers, so that every sum is checked to the bit.
#include "validator/cuda/device.h"
#include "validator/cuda/gpus.h"

namespace hai::validator::gpus {

namespace {

__device__ uint32_t value_at(size_t index) {
  return static_cast<uint32_t>(index) * 2654435761u ^ 0x5bd1e995u;
}
__host__ __device__ uint32_t weight_of(int rank) {
  return static_cast<uint32_t>(rank + 1) * 0x9e3779b1u | 1;
}

__global__ void fill(uint32_t* values, size_t count, uint32_t weight) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    values[i] = value_at(i) * weight;
}

__global__ void add(uint32_t* values, const uint32_t* others, size_t count) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    values[i] += others[i];
}

__global__ void check(const uint32_t* values, size_t count, uint32_t weight,
                      unsigned long long* wrong) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    if (values[i] != value_at(i) * weight) atomicAdd(wrong, 1ull);
  }
}

struct Member {
  int gpu = 0;
  Block values, received, wrong;
};

class Ring {
 public:
  std::string prepare(const std::vector<int>& gpus, size_t count, AllReduceResult& result) {
    count_ = count;
    members_.resize(gpus.size());
    for (size_t i = 0; i < gpus.size(); ++i) {
      Member& member = members_[i];
      member.gpu = gpus[i];
      RETURN_IF_CUDA_ERROR(cudaSetDevice(member.gpu));
      const size_t part = count / gpus.size() + 1;
      if (!member.values.allocate(count * 4) || !member.received.allocate(part * 4) ||
          !member.wrong.allocate(8))
        return "no memory on GPU " + std::to_string(member.gpu);
      const int next = gpus[(i + 1) % gpus.size()];
      int is_direct = 0;
      RETURN_IF_CUDA_ERROR(cudaDeviceCanAccessPeer(&is_direct, member.gpu, next));
      if (is_direct == 0) continue;
      const cudaError_t code = cudaDeviceEnablePeerAccess(next, 0);
      if (code == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
      } else {
        RETURN_IF_CUDA_ERROR(code);
      }
      ++result.direct_pairs;
    }
    return {};
  }

  std::string fill_all() {
    for (size_t i = 0; i < members_.size(); ++i) {
      RETURN_IF_CUDA_ERROR(cudaSetDevice(members_[i].gpu));
      HAI_LAUNCH(fill, 1024, 256, members_[i].values.as<uint32_t>(), count_,
                 weight_of(static_cast<int>(i)));
      RETURN_IF_CUDA_ERROR(cudaGetLastError());
    }
    return wait_for_all();
  }

  // See ring/all_reduce.cpp; here one program does the steps of all members.
  std::string reduce() {
    const int n = static_cast<int>(members_.size());
    for (int step = 0; step < 2 * (n - 1); ++step) {
      const bool is_summing = step < n - 1;
      for (int i = 0; i < n; ++i) {
        Member& from = members_[i];
        Member& to = members_[(i + 1) % n];
        const Part part = part_at(i - step);
        uint32_t* into =
            is_summing ? to.received.as<uint32_t>() : to.values.as<uint32_t>() + part.first;
        RETURN_IF_CUDA_ERROR(cudaSetDevice(from.gpu));
        RETURN_IF_CUDA_ERROR(cudaMemcpyPeerAsync(
            into, to.gpu, from.values.as<uint32_t>() + part.first, from.gpu, part.count * 4));
      }
      if (std::string error = wait_for_all(); !error.empty()) return error;
      if (!is_summing) continue;
      for (int i = 0; i < n; ++i) {
        Member& to = members_[(i + 1) % n];
        const Part part = part_at(i - step);
        RETURN_IF_CUDA_ERROR(cudaSetDevice(to.gpu));
        HAI_LAUNCH(add, 1024, 256, to.values.as<uint32_t>() + part.first,
                   to.received.as<uint32_t>(), part.count);
        RETURN_IF_CUDA_ERROR(cudaGetLastError());
      }
      if (std::string error = wait_for_all(); !error.empty()) return error;
    }
    return {};
  }

  std::string check_all(AllReduceResult& result) {
    uint32_t weight = 0;
    for (size_t i = 0; i < members_.size(); ++i) weight += weight_of(static_cast<int>(i));
    for (Member& member : members_) {
      RETURN_IF_CUDA_ERROR(cudaSetDevice(member.gpu));
      RETURN_IF_CUDA_ERROR(cudaMemset(member.wrong.as<void>(), 0, 8));
      HAI_LAUNCH(check, 1024, 256, member.values.as<uint32_t>(), count_, weight,
                 member.wrong.as<unsigned long long>());
      RETURN_IF_CUDA_ERROR(cudaGetLastError());
      unsigned long long wrong = 0;
      RETURN_IF_CUDA_ERROR(cudaMemcpy(&wrong, member.wrong.as<void>(), 8, cudaMemcpyDeviceToHost));
      if (wrong > 0 && result.wrong_words == 0) result.wrong_gpu = member.gpu;
      result.wrong_words += wrong;
    }
    return {};
  }

 private:
  struct Part {
    size_t first;
    size_t count;
  };
  Part part_at(int index) const {
    const int n = static_cast<int>(members_.size());
    const size_t at = static_cast<size_t>((index % n + n) % n);
    const size_t first = count_ * at / members_.size();
    return {first, count_ * (at + 1) / members_.size() - first};
  }
  std::string wait_for_all() {
    for (const Member& member : members_) {
      RETURN_IF_CUDA_ERROR(cudaSetDevice(member.gpu));
      RETURN_IF_CUDA_ERROR(cudaDeviceSynchronize());
    }
    return {};
  }

  size_t count_ = 0;
  std::vector<Member> members_;
};

std::string run(const std::vector<int>& gpus, int64_t bytes, double seconds,
                AllReduceResult& result) {
  result.bytes = bytes;
  Ring ring;
  if (std::string error = ring.prepare(gpus, static_cast<size_t>(bytes) / 4, result);
      !error.empty())
    return error;
  const Timer total;
  while (result.rounds < 3 || total.seconds() < seconds) {
    if (std::string error = ring.fill_all(); !error.empty()) return error;
    const Timer timer;
    if (std::string error = ring.reduce(); !error.empty()) return error;
    const double took = timer.seconds();
    if (std::string error = ring.check_all(result); !error.empty()) return error;
    // The first opens the ways between the GPUs.
    if (result.rounds == 1 || (result.rounds > 1 && took < result.best_seconds))
      result.best_seconds = took;
    ++result.rounds;
    if (result.wrong_words > 0) break;
  }
  return {};
}

}  // namespace

AllReduceResult run_all_reduce(const std::vector<int>& gpus, int64_t bytes, double seconds) {
  AllReduceResult result;
  result.error = run(gpus, bytes, seconds, result);
  return result;
}

}  // namespace hai::validator::gpus
