// Test "link" and the node's model on recorded trees of /sys and /proc.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "validator/cuda/gpus.h"
#include "validator/node_model.h"
#include "validator/test.h"

namespace hai::validator {
namespace {

namespace fs = std::filesystem;

class Tree {
 public:
  Tree() {
    path_ = fs::temp_directory_path() / "hai-validator-tree-XXXXXX";
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
  }
  ~Tree() { fs::remove_all(path_); }
  void write(const std::string& file, const std::string& text) {
    fs::create_directories(fs::path(path_ + "/" + file).parent_path());
    std::ofstream(path_ + "/" + file) << text;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::map<std::string, Measurement> by_metric(const std::vector<Measurement>& results) {
  std::map<std::string, Measurement> map;
  for (const Measurement& result : results) map[result.metric] = result;
  EXPECT_EQ(map.size(), results.size()) << "a metric twice";
  return map;
}

TEST(ValidatorLink, AddsUpThePortsThatAreUp) {
  Tree sys;
  for (const auto& [port, state] : {std::pair{"mlx5_0", "4: ACTIVE"}, {"mlx5_1", "1: DOWN"}}) {
    const std::string folder = std::string("class/infiniband/") + port + "/ports/1/";
    sys.write(folder + "state", state);
    sys.write(folder + "phys_state", "5: LinkUp");
    sys.write(folder + "rate", "200 Gb/sec (4X HDR)");
  }
  sys.write("devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  const auto results = by_metric(
      test_link({.cpus = 1, .sys_root = sys.path(), .nvml_library = "no-such-library.so"}));
  EXPECT_EQ(results.at("ib_ports_active").value, 1);
  EXPECT_EQ(results.at("ib_ports_active").detail, "mlx5_1/1 DOWN");
  EXPECT_EQ(results.at("ib_rate").value, 200);
  EXPECT_EQ(results.at("cpus").value, 1);
  EXPECT_EQ(results.at("gpus").verdict, Verdict::skipped);
}

TEST(ValidatorModel, IsWhatNodesOfAKindShare) {
  Tree proc;
  proc.write("cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 7742\n");
  proc.write("meminfo", "MemTotal:       527951872 kB\n");
  for (const char* gpu : {"0000:01:00.0", "0000:41:00.0"}) {
    proc.write(std::string("driver/nvidia/gpus/") + gpu + "/information",
               "Model: \t\t NVIDIA A100-PCIE-40GB\nIRQ:   \t\t 18\n");
  }
  const std::string model = node_model("/sys", proc.path());
  EXPECT_TRUE(model.starts_with("AMD EPYC 7742 x")) << model;
  EXPECT_TRUE(model.ends_with(", 504 GiB, 2 x NVIDIA A100-PCIE-40GB")) << model;
}

// Where there is no GPU, both GPU tests say so and are no failure.
TEST(ValidatorGpus, AreSkippedWhereThereAreNone) {
  const gpus::Found found = gpus::find();
  if (!found.gpus.empty()) GTEST_SKIP() << "this machine has GPUs";
  ASSERT_EQ(found.error, "");
  for (const auto& run : {test_gpu_memory, test_gemm}) {
    const std::vector<Measurement> results = run({});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].verdict, Verdict::skipped);
    EXPECT_TRUE(results[0].detail.starts_with("no GPU")) << results[0].detail;
  }
}

}  // namespace
}  // namespace hai::validator
