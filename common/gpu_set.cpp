#include "common/gpu_set.h"

#include <charconv>

namespace hai {

std::string to_string(GpuSet gpus) {
  std::string text;
  for (int index = 0; index < GpuSet::kMax; ++index) {
    if (!gpus.contains(index)) continue;
    if (!text.empty()) text += ',';
    text += std::to_string(index);
  }
  return text;
}

Result<GpuSet> parse_gpu_set(std::string_view text) {
  GpuSet gpus;
  std::string_view rest = text;
  while (!rest.empty()) {
    int index = -1;
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), index);
    if (parsed.ec != std::errc() || index < 0 || index >= GpuSet::kMax) {
      return invalid_argument("GPU list '{}': indices must be 0..{}, separated by commas",
                              text.substr(0, 256), GpuSet::kMax - 1);
    }
    if (gpus.contains(index)) {
      return invalid_argument("GPU list '{}': {} is named twice", text.substr(0, 256), index);
    }
    gpus.bits |= uint64_t{1} << index;
    rest.remove_prefix(static_cast<size_t>(parsed.ptr - rest.data()));
    if (rest.empty()) break;
    if (rest.front() != ',' || rest.size() == 1) {
      return invalid_argument("GPU list '{}': indices must be 0..{}, separated by commas",
                              text.substr(0, 256), GpuSet::kMax - 1);
    }
    rest.remove_prefix(1);
  }
  return gpus;
}

}  // namespace hai
