#include "agent/health/health_config.h"

#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

Result<HealthConfig> parse(const std::string& text) {
  YamlReader reader(text);
  HealthConfig config;
  read_health_config(reader, &config);
  RETURN_IF_ERROR(to_status(reader.finish(), "agent.yaml"));
  return config;
}

TEST(HealthConfig, reads_everything) {
  const Result<HealthConfig> config = parse(
      "health:\n"
      "  sys_root: /host/sys\n  proc_root: /host/proc\n  kmsg: /host/kmsg\n"
      "  nvml_library: libstub.so\n  xid_table: /etc/hai/xid.csv\n  manifest: /etc/hai/manifest\n"
      "  mounts: [/data]\n  file_systems: [/, /local]\n  disks: [nvme0n1]\n"
      "  infiniband_excluded: [mlx5_9]\n"
      "  expect:\n    gpus: 8\n    gpu_pcie_width: 16\n    gpu_nvlinks: 12\n    cpus: 64\n    "
      "memory: 512Gi\n"
      "    clock_source: tsc\n    infiniband: {mlx5_0/1: 200}\n"
      "  limits: {gpu_temperature_celsius: 85, ib_flaps: 5}\n");
  ASSERT_TRUE(config.is_ok()) << config.status().message();
  EXPECT_EQ(config.value().gpus, 8);
  EXPECT_EQ(config.value().gpu_nvlinks, 12);
  EXPECT_EQ(parse("health:\n  mounts: [/data]\n").value().gpu_nvlinks, -1);
  EXPECT_EQ(config.value().memory_bytes, int64_t{512} << 30);
  EXPECT_EQ(config.value().infiniband, (std::map<std::string, int64_t>{{"mlx5_0/1", 200}}));
  EXPECT_EQ(config.value().limits.gpu_temperature_celsius, 85);
  EXPECT_EQ(config.value().limits.ib_flaps, 5);
  EXPECT_EQ(config.value().limits.ib_down_seconds, 30);
  EXPECT_EQ(config.value().mounts, std::vector<std::string>{"/data"});
}

TEST(HealthConfig, names_what_is_wrong) {
  for (const char* text : {
           "health:\n  mounts: [data]\n",
           "health:\n  limits: {gpu_temperature: 85}\n",
           "health:\n  limits: {gpu_temperature_celsius: 900}\n",
           "health:\n  limits: {gpu_temperature_celsius: warm}\n",
           "health:\n  expect:\n    infiniband: {mlx5_0: 200}\n",
           "health:\n  expect:\n    infiniband: {mlx5_0/1: fast}\n",
           "health:\n  kmsgs: /dev/kmsg\n",
           "health:\n  expect: {gpu_nvlinks: 19}\n",
           "health:\n  expect: {gpu_nvlinks: all}\n",
       }) {
    EXPECT_FALSE(parse(text).is_ok()) << text;
  }
  EXPECT_THAT(parse("health:\n  limits: {ib_flap: 85}\n").status().message(),
              testing::HasSubstr("no limit ib_flap"));
}

TEST(HealthLimits, defaults_are_in_their_ranges) {
  const HealthLimits defaults;
  for (const LimitInfo& info : limit_infos()) {
    HealthLimits limits;
    EXPECT_TRUE(set_limit(limits, info.name, defaults.*info.member).is_ok()) << info.name;
    EXPECT_FALSE(set_limit(limits, info.name, info.low - 1).is_ok()) << info.name;
  }
  EXPECT_EQ(limit_infos().size() * sizeof(int64_t), sizeof(HealthLimits));
}

}  // namespace
}  // namespace hai
