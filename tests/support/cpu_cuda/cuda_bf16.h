#pragma once
// bfloat16 by the CPU: the upper half of a float, rounded to even.
#include <cuda_runtime.h>

struct __nv_bfloat16 {
  uint16_t bits;
};

inline __nv_bfloat16 __float2bfloat16(float value) {
  uint32_t bits = __float_as_uint(value);
  bits += 0x7fff + (bits >> 16 & 1);
  return {static_cast<uint16_t>(bits >> 16)};
}

inline float __bfloat162float(__nv_bfloat16 value) {
  const uint32_t bits = uint32_t{value.bits} << 16;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}
