#include <gtest/gtest.h>

#include "common/rng.h"
#include "common/shell_words.h"
#include "common/spec/job_spec_yaml.h"
#include "common/text_check.h"

namespace hai {
namespace {

void expect_round_trip(const JobSpec& spec) {
  const std::string yaml = format_job_spec_yaml(spec);
  JobSpec back;
  std::vector<SpecError> errors;
  ASSERT_TRUE(parse_job_spec(yaml, &back, &errors)) << to_status(errors).message() << "\n" << yaml;
  EXPECT_EQ(back, spec) << yaml;
}

TEST(FormatJobSpec, WritesTheWholeSpec) {
  JobSpec spec;
  spec.name = "j";
  spec.workspace = "/w";
  spec.entrypoint = "e.py";
  spec.environments = {{"A", "1"}};
  spec.secrets = {{"KEY", "wandb"}};
  spec.zone = "A";
  EXPECT_EQ(format_job_spec_yaml(spec), R"(version: 2
name: j
priority: auto
spec:
  workspace: /w
  entrypoint: e.py
  environments:
    A: "1"
  secrets:
    KEY: wandb
resource:
  group: "training#A"
  node_count: 1
  gpus_per_node: 0
  cpus_per_node: 0
  memory_per_node: 0
options:
  launch: per_node
  env_style: hai
  suspend:
    grace: 1m
    exit_code: 85
  checkpoint:
    period: 5m
  restart:
    on_failure: false
    max: 3
  timeout: 0s
  watchdog: 30m
  core_size: 0
  max_leaves: 0
  cross_zone: allow
  interactive: false
  release_early: false
  shared_in_group: false
)");
}

std::string random_text(Rng& rng) {
  const std::vector<std::string> kParts = {
      "a", "Z", "7", " ",  "'", "\"",   "\\",       "\n",   "\t",  "#", ": ", "- ",
      "{", "[", "*", "&x", "%", "\x1b", "\xc3\xa9", "null", "yes", "~", "\r", "\x7f"};
  std::string text;
  for (uint64_t i = rng.below(8); i > 0; --i) text += rng.pick(kParts);
  return text;
}

TEST(FormatJobSpec, EverythingComesBack) {
  Rng rng(17);
  for (int round = 0; round < 300; ++round) {
    JobSpec spec;
    spec.name = fmt::format("job.{}", round);
    spec.priority = rng.pick(kPriorities);
    spec.workspace = "/data/x y#" + std::to_string(rng.below(10));
    spec.entrypoint = rng.chance(0.5) ? "null" : "- a: b";
    spec.parameters = join_words({random_text(rng), random_text(rng)});
    for (uint64_t i = rng.below(4); i > 0; --i) {
      spec.environments[fmt::format("KEY_{}", i)] = random_text(rng);
    }
    spec.environments["yes"] = "no";
    if (rng.chance(0.5)) spec.secrets["KEY"] = "no.1";
    spec.zone = rng.chance(0.5) ? "" : "A";
    spec.node_count = static_cast<int>(rng.between(1, 100'000));
    spec.gpus_per_node = static_cast<int>(rng.between(kNoGpus, 64));
    const bool asks_gpus = spec.asks_gpus();
    spec.cpus_per_node = static_cast<int>(rng.between(0, 200));
    spec.memory_per_node_bytes = rng.between(0, int64_t{1} << 50);
    spec.image = rng.chance(0.5) ? "" : "a/b:c";
    if (!spec.image.empty()) spec.program.mounts = {"/data", "/a:/b:ro"};
    if (rng.chance(0.5)) spec.program.services = {"web:8000", "8001", "raw:1:tcp"};
    spec.launch = asks_gpus && rng.chance(0.5) ? LaunchMode::per_gpu : LaunchMode::per_node;
    spec.env_style = rng.chance(0.5) ? EnvStyle::torch : EnvStyle::slurm;
    spec.suspend = {Duration(rng.between(0, asks_gpus ? 3'600'000'000 : 60'000'000)),
                    rng.chance(0.5) ? "" : "SIGUSR1", static_cast<int>(rng.between(1, 255))};
    spec.checkpoint_period = Duration(rng.between(1'000'000, 3'600'000'000));
    spec.restart = {rng.chance(0.5), static_cast<int>(rng.between(0, 1000))};
    spec.timeout = Duration(rng.between(0, 1'000'000'000'000));
    spec.watchdog = Duration(rng.between(0, 1'000'000'000'000));
    spec.program.core_size = rng.chance(0.5) ? kUnlimited : rng.between(0, int64_t{1} << 50);
    spec.max_leaves = static_cast<int>(rng.between(0, 100));
    spec.cross_zone = rng.chance(0.5) ? CrossZone::allow : CrossZone::never;
    spec.is_interactive = spec.asks_gpus() && spec.array.empty() && rng.chance(0.5);
    spec.releases_early = spec.node_count % 2 == 0;
    spec.is_shared_in_group = rng.chance(0.5);
    if (rng.chance(0.5)) spec.tags = {"true", "a:b", "1"};
    if (rng.chance(0.5)) spec.depends_on = {"17", "job-x"};
    if (rng.chance(0.5)) spec.begin_at = unix_micros(rng.between(0, 4'000'000'000'000'000));
    expect_round_trip(spec);
  }
}

// Whatever is cut out, doubled or overwritten in a good file: either it is refused with errors that
// can be printed, or it is a valid spec that survives a round trip.
TEST(FormatJobSpec, DamagedFilesAreRefusedOrValid) {
  JobSpec spec;
  spec.name = "j";
  spec.workspace = "/w";
  spec.entrypoint = "e.py";
  spec.parameters = "--a 'b c'";
  spec.environments = {{"A", "1"}, {"B", "x: y"}};
  spec.secrets = {{"C", "key"}};
  spec.zone = "A";
  spec.suspend.signal = "SIGUSR1";
  spec.tags = {"a", "b"};
  spec.begin_at = unix_micros(0);
  const std::string good = format_job_spec_yaml(spec);
  const std::string kBytes = "\n\t \"'[]{}:,#&*!|>%@`-?0aZ~\\\x01\x80\xff";
  Rng rng(23);
  int refused = 0;
  for (int round = 0; round < 3'000; ++round) {
    std::string text = good;
    for (uint64_t i = rng.between(1, 4); i > 0 && !text.empty(); --i) {
      const size_t at = rng.below(text.size());
      const size_t length = rng.below(8);
      switch (rng.below(4)) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, text.substr(rng.below(text.size()), length));
          break;
        case 2:
          text[at] = rng.pick(kBytes);
          break;
        default:
          text.insert(at, 1, rng.pick(kBytes));
      }
    }
    JobSpec back;
    std::vector<SpecError> errors;
    if (parse_job_spec(text, &back, &errors)) {
      expect_round_trip(back);
      continue;
    }
    ++refused;
    ASSERT_FALSE(errors.empty()) << text;
    for (const SpecError& error : errors) {
      ASSERT_FALSE(find_bad_text(to_string(error)).has_value()) << text;
      ASSERT_EQ(to_string(error).find('\n'), std::string::npos) << text;
    }
  }
  EXPECT_GT(refused, 1'000);
  EXPECT_LT(refused, 3'000);
}

}  // namespace
}  // namespace hai
