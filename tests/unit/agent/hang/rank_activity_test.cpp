#include "agent/hang/rank_activity.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/agent/hang/stuck_process.h"

namespace hai {
namespace {

namespace fs = std::filesystem;

class RankActivityFiles : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const fs::path path = folder_.path() + "/" + file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::string at(const std::string& file) const { return folder_.path() + "/" + file; }

 private:
  test::ToolFolder folder_;
};

TEST_F(RankActivityFiles, CountsTheControlGroupOnce) {
  write("v2/cpu.stat", "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n");
  write("v1/cpuacct.usage", "2500000000\n");
  write("pids/pids.max", "100\n");
  EXPECT_EQ(rank_cpu_time({at("v2")}, {}), Duration(1500ms));
  EXPECT_EQ(rank_cpu_time({at("pids"), at("v1")}, {}), Duration(2500ms));
  EXPECT_EQ(rank_cpu_time({at("v2"), at("v1")}, {}), Duration(1500ms)) << "not both";
  EXPECT_EQ(rank_cpu_time({at("nowhere")}, {}), std::nullopt);
}

TEST_F(RankActivityFiles, AddsUpProcessesWhateverTheirNames) {
  const std::string rest = " S 1 7 7 0 -1 4194304 100 0 0 0 30 20 7 3 20 0 1 0 500 0 0";
  write("proc/7/stat", "7 (python3)" + rest);
  write("proc/8/stat", "8 (a) b (c)" + rest);
  const auto ticks = [](int64_t count) {
    return Duration(count * 1'000'000 / ::sysconf(_SC_CLK_TCK));
  };
  EXPECT_EQ(rank_cpu_time({}, {7}, at("proc")), ticks(60));
  EXPECT_EQ(rank_cpu_time({}, {7, 8, 9}, at("proc")), ticks(120));
  EXPECT_EQ(rank_cpu_time({}, {9}, at("proc")), std::nullopt);
}

TEST(RankActivity, GrowsWithTheWorkOfARealProcess) {
  const auto before = rank_cpu_time({}, {::getpid()});
  rusage usage{};
  const auto used = [&] {
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec * 1'000'000 + usage.ru_utime.tv_usec;
  };
  const auto start = used();
  while (used() - start < 100'000) continue;
  const auto after = rank_cpu_time({}, {::getpid()});
  ASSERT_TRUE(before && after);
  EXPECT_GE(*after - *before, Duration(50ms));
}

TEST_F(RankActivityFiles, AddsUpThePorts) {
  write("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "1000\n");
  write("sys/class/infiniband/mlx5_1/ports/1/counters/port_rcv_data", "24\n");
  EXPECT_EQ(received_bytes(at("sys"), {}), 4096);
  EXPECT_EQ(received_bytes(at("sys"), {"mlx5_1"}), 4000);
  EXPECT_EQ(received_bytes(at("nowhere"), {}), std::nullopt);
}

}  // namespace
}  // namespace hai
