#include "validator/test.h"

namespace hai::validator {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::fail:
      return "fail";
    case Verdict::skipped:
      return "skipped";
  }
  return "unknown";
}

Measurement skipped(About about, std::string why) {
  return {.test = std::string(about.test),
          .metric = std::string(about.metric),
          .verdict = Verdict::skipped,
          .detail = std::move(why)};
}

Measurement failed(About about, std::string why) {
  return {.test = std::string(about.test),
          .metric = std::string(about.metric),
          .verdict = Verdict::fail,
          .detail = std::move(why)};
}

const std::vector<NamedTest>& all_tests() {
  static const std::vector<NamedTest> kTests = {
      {"link", test_link, "PCIe links of the GPUs, InfiniBand ports, CPU frequency"},
      {"cpu", test_cpu, "every CPU computes known results; memory bandwidth"},
      {"gpu_memory", test_gpu_memory, "writes and reads back every byte of GPU memory"},
      {"gemm", test_gemm, "matrix products that fill GPU memory, equal to the bit"},
      {"allreduce", test_allreduce, "between the GPUs of a node, and between the job's ranks"},
      {"storage", test_storage, "writes, syncs and reads back a file in --dir"},
  };
  return kTests;
}

}  // namespace hai::validator
