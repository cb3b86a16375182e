// What follows for a rank from its node's settings.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/os/files.h"
#include "agent/os/rank_confinement.h"
#include "agent/os/refused_calls.h"

namespace hai {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(Isolation, EachHasAWord) {
  for (const Isolation isolation : {Isolation::none, Isolation::shared, Isolation::strict})
    EXPECT_EQ(parse_isolation(to_string(isolation)).value(), isolation);
  EXPECT_EQ(parse_isolation("loose").status().message(),
            "must be strict, shared or none, is loose");
}

TEST(PathsToKeep, AreThoseThatWouldBeHidden) {
  EXPECT_THAT(
      paths_to_keep({"/home/ann", "/dev/shm/x", "/tmp/b", "/tmp", "/tmp/", "/tmpfiles", "/tmp/b"}),
      ElementsAre("/dev/shm/x", "/tmp/b"));
}

// The outer one's mount has it, and the user may change links in it while mounts are made.
TEST(PathsToKeep, AreNoneBelowAnother) {
  EXPECT_THAT(paths_to_keep({"/tmp/b/c", "/tmp/b-c/d", "/tmp/b", "/tmp/b/c/d", "//tmp/./b/e/"}),
              ElementsAre("/tmp/b", "/tmp/b-c/d"));
}

// Root would make the folders in a /tmp where the links before .. are not.
TEST(PathsToKeep, LeadNowhereElse) {
  EXPECT_THAT(paths_to_keep({"/tmp/a/../../run/nologin", "/tmp/..", "/dev/shm/../../etc"}),
              ElementsAre());
}

LaunchRank with_gpus(GpuSet gpus) {
  LaunchRank order;
  order.gpus = gpus;
  return order;
}
constexpr int64_t kGiB = 1 << 30;

TEST(RankLimits, APartOfTheNodeGetsItsShare) {
  const NodeShape node = {.gpus = 8, .memory_bytes = 512 * kGiB};
  const CgroupLimits limits = rank_limits(with_gpus(GpuSet::first(2)), {}, node);
  EXPECT_EQ(limits.memory_bytes, 128 * kGiB);
  EXPECT_EQ(limits.processes, 4096);
  EXPECT_TRUE(limits.devices.has_value());
}

TEST(RankLimits, TheWholeNodeIsLimitedInProcessesOnly) {
  const NodeShape node = {.gpus = 8, .memory_bytes = 512 * kGiB};
  const CgroupLimits limits = rank_limits(with_gpus(GpuSet::first(8)), {}, node);
  EXPECT_EQ(limits.memory_bytes, 0);
  EXPECT_EQ(limits.processes, 16'384);
}

TEST(RankLimits, WhatTheJobAskedForWins) {
  LaunchRank order = with_gpus(GpuSet::first(1));
  order.memory_bytes = 3 * kGiB;
  order.cpus = 5;
  const CgroupLimits limits = rank_limits(order, {}, {.gpus = 8, .memory_bytes = 512 * kGiB});
  EXPECT_EQ(limits.memory_bytes, 3 * kGiB);
  EXPECT_EQ(limits.cpus, 5);
}

TEST(RankLimits, SmallSharesCanStillStartPrograms) {
  const NodeShape node = {.gpus = 64};
  EXPECT_EQ(rank_limits(with_gpus(GpuSet::first(1)), {.processes_max = 1024}, node).processes, 256);
  EXPECT_EQ(rank_limits(with_gpus(GpuSet::first(1)), {.processes_max = 20}, node).processes, 20);
  EXPECT_EQ(rank_limits(with_gpus(GpuSet::first(1)), {.processes_max = 0}, node).processes, 0);
}

TEST(RankLimits, AreOnlyWhatTheJobAskedForIfTheNodeSaysNone) {
  const CgroupLimits limits =
      rank_limits(with_gpus(GpuSet::first(1)), {.isolation = Isolation::none}, {.gpus = 8});
  EXPECT_EQ(limits.processes, 0);
  EXPECT_FALSE(limits.devices.has_value());
}

TEST(RankConfinement, FollowsTheIsolation) {
  const LaunchFile launch = {
      .workspace = "/tmp/w", .log_dir = "/data/log", .socket_dir = "/data/s"};
  const Powers all = {.mounts = true, .process_limits = true, .device_filters = true};
  const auto of = [&](Isolation isolation, const Powers& powers) {
    return rank_confinement(launch, {.isolation = isolation, .system_users = {"root"}}, powers, "");
  };
  EXPECT_EQ(of(Isolation::none, all), (Confinement{.system_users = {"root"}}));
  const Confinement shared = {.system_users = {"root"}, .drops_privileges = true};
  EXPECT_EQ(of(Isolation::shared, all), shared);
  EXPECT_EQ(of(Isolation::strict, {}), shared) << "what cannot be done is not asked of the shim";
  EXPECT_EQ(of(Isolation::strict, all), (Confinement{.system_users = {"root"},
                                                     .drops_privileges = true,
                                                     .has_own_mounts = true,
                                                     .kept_paths = {"/tmp/w"}}));
}

TEST(MissingConfinement, IsSaidOnceForAll) {
  if (::geteuid() != 0) {
    EXPECT_EQ(missing_confinement({}, {}).size(), 1u);
    return;
  }
  EXPECT_EQ(missing_confinement({}, {}).size(), 3u);
  EXPECT_EQ(missing_confinement({.isolation = Isolation::shared}, {}).size(), 2u);
  EXPECT_THAT(missing_confinement({.isolation = Isolation::none}, {}), IsEmpty());
  EXPECT_THAT(
      missing_confinement({}, {.mounts = true, .process_limits = true, .device_filters = true}),
      IsEmpty());
}

// A terminal of the machine stands for a GPU, since anybody can make some.
class Terminal {
 public:
  Terminal() : fd_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) { ::unlockpt(fd_.get()); }
  std::string path() const { return ::ptsname(fd_.get()); }
  DeviceRule rule() const {
    struct stat info {};
    ::stat(path().c_str(), &info);
    return {'c', static_cast<int>(major(info.st_rdev)), static_cast<int>(minor(info.st_rdev))};
  }

 private:
  UniqueFd fd_;
};

class DeviceRulesTest : public testing::Test {
 protected:
  DeviceRulesTest() {
    std::string path = testing::TempDir() + "hai-dev-XXXXXX";
    dev_ = ::mkdtemp(path.data());
    std::filesystem::create_directory(dev_ + "/infiniband");
    std::filesystem::create_symlink(one_.path(), dev_ + "/nvidia7");
    std::filesystem::create_symlink(two_.path(), dev_ + "/nvidia3");
    std::filesystem::create_symlink(adapter_.path(), dev_ + "/infiniband/uverbs0");
    std::filesystem::create_symlink(management_.path(), dev_ + "/infiniband/umad0");
  }
  ~DeviceRulesTest() override { std::filesystem::remove_all(dev_); }

  Terminal one_, two_, adapter_, management_;
  std::string dev_;
};

TEST_F(DeviceRulesTest, AreTheGpusByTheirMinorNumbers) {
  const std::vector<DeviceRule> rules =
      device_rules({.gpus = GpuSet::first(1), .gpu_minors = {7, 3}, .dev_root = dev_});
  EXPECT_THAT(rules, Contains(one_.rule()));
  EXPECT_THAT(rules, Not(Contains(two_.rule())));
  EXPECT_THAT(rules, Contains(adapter_.rule()));
  EXPECT_THAT(rules, Not(Contains(management_.rule()))) << "it manages the whole network";
  EXPECT_THAT(rules, Contains(DeviceRule{'c', 1, 3}));
}

TEST_F(DeviceRulesTest, AreAllGpusWhereTheyAreSimulated) {
  const std::vector<DeviceRule> rules = device_rules({.gpus = GpuSet::first(1), .dev_root = dev_});
  EXPECT_THAT(rules, testing::IsSupersetOf({one_.rule(), two_.rule()}));
}

TEST_F(DeviceRulesTest, AreAlsoWhatTheSiteAdds) {
  EXPECT_THAT(device_rules({.more = {dev_ + "/infiniband/um*"}, .dev_root = dev_}),
              Contains(management_.rule()));
}

// Somebody with a part of the node opens the network card of somebody else's part.
TEST_F(DeviceRulesTest, AreTheNicsOfThePartOnly) {
  const Terminal other;
  std::filesystem::create_symlink(other.path(), dev_ + "/infiniband/uverbs1");
  for (const auto& [node, nic] : {std::pair("uverbs0", "mlx5_9"), {"uverbs1", "mlx5_2"}}) {
    const std::string folder = dev_ + "/sys/class/infiniband_verbs/" + node;
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/ibdev") << nic << "\n";
  }
  DeviceNeeds needs{
      .nics = std::set<std::string>{"mlx5_9"}, .dev_root = dev_, .sys_root = dev_ + "/sys"};
  EXPECT_THAT(device_rules(needs), Contains(adapter_.rule()));
  EXPECT_THAT(device_rules(needs), Not(Contains(other.rule())));
  needs.nics.emplace();
  EXPECT_THAT(device_rules(needs), Not(Contains(adapter_.rule())));
  needs.nics.reset();
  EXPECT_THAT(device_rules(needs), testing::IsSupersetOf({adapter_.rule(), other.rule()}));
}

TEST(NicsOfRanks, AreThoseBesideTheirGpus) {
  NodeShape node = {.gpus = 4};
  for (const char* nic : {"mlx5_0", "mlx5_0", "mlx5_1", "mlx5_1"}) {
    node.gpu_places.push_back({.nic = nic});
  }
  using Nics = std::set<std::string>;
  EXPECT_EQ(nics_of(GpuSet::first(2), node), Nics{"mlx5_0"});
  EXPECT_EQ(nics_of(GpuSet::first(3), node), (Nics{"mlx5_0", "mlx5_1"}));
  EXPECT_EQ(nics_of(GpuSet::first(4), node), std::nullopt) << "the whole node";
  EXPECT_EQ(nics_of({}, node), Nics()) << "no GPUs where there are some";
  EXPECT_EQ(nics_of({}, NodeShape{}), std::nullopt) << "a node without GPUs";
  node.gpu_places.clear();
  EXPECT_EQ(nics_of(GpuSet::first(2), node), std::nullopt) << "nobody knows which";
}

TEST(RefusedCalls, AreKnownByName) {
  EXPECT_TRUE(is_refused_call("perf_event_open"));
  EXPECT_FALSE(is_refused_call("read"));
}

}  // namespace
}  // namespace hai
