// Which GPUs there are.
#include "validator/cuda/device.h"
#include "validator/cuda/gpus.h"

namespace hai::validator::gpus {

namespace {

std::string why_none(cudaError_t code) {
  int driver = 0;
  cudaDriverGetVersion(&driver);  // 0 = there is none
  if (code == cudaErrorInsufficientDriver && driver > 0)
    return "no GPU: the driver is for CUDA " + std::to_string(driver / 1000) + "." +
           std::to_string(driver % 1000 / 10) + ", this program for " +
           std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
  return "no GPU";
}

}  // namespace

Found find() {
  Found found;
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ||
      (code == cudaSuccess && count == 0)) {
    found.why_none = why_none(code);
    return found;
  }
  if (code != cudaSuccess) {
    found.error = cudaGetErrorString(code);
    return found;
  }
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (const cudaError_t error = cudaGetDeviceProperties(&properties, index);
        error != cudaSuccess) {
      found.error = "GPU " + std::to_string(index) + ": " + cudaGetErrorString(error);
      return found;
    }
    found.gpus.push_back({index, properties.name, static_cast<int64_t>(properties.totalGlobalMem)});
  }
  return found;
}

}  // namespace hai::validator::gpus
