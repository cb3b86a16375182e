#pragma once
// The keys of a job file, with the legal ranges of their numbers and their words, in the order in
// which a spec is written. Reading, judging and writing all go through this list. Private to
// common/spec.

#include <array>
#include <cstdint>

#include "common/job_spec.h"

namespace hai {

inline constexpr int64_t kMemoryPerNodeBytesMax = int64_t{1} << 50;
inline constexpr int64_t kCoreBytesMax = int64_t{1} << 50;
// Of options.suspend.grace, for jobs that leave for every job with GPUs.
inline constexpr Duration kGraceWithoutGpusMax = 60s;

// visit(path, member), with the lowest and the highest value of a number or the words of a choice
// behind them. A size whose lowest value is kUnlimited may be `unlimited`, a number whose lowest is
// kNoGpus may be `none`. Spec is JobSpec or const JobSpec.
template <typename Spec, typename Visitor>
void for_each_key(Spec& spec, Visitor&& visit) {
  visit("name", spec.name);
  visit("priority", spec.priority);
  visit("array", spec.array);
  visit("spec.workspace", spec.workspace);
  visit("spec.entrypoint", spec.entrypoint);
  visit("spec.parameters", spec.parameters);
  visit("spec.environments", spec.environments);
  visit("spec.secrets", spec.secrets);
  visit("resource.group", spec.group, spec.zone);
  visit("resource.node_count", spec.node_count, 1, 100'000);
  visit("resource.gpus_per_node", spec.gpus_per_node, kNoGpus, 64);
  visit("resource.cpus_per_node", spec.cpus_per_node, 0, 65'536);
  visit("resource.memory_per_node", spec.memory_per_node_bytes, int64_t{0}, kMemoryPerNodeBytesMax);
  visit("resource.gpu_type", spec.node_filter.gpu_type);
  visit("resource.labels", spec.node_filter.labels);
  visit("resource.nodes", spec.node_filter.nodes);
  visit("resource.exclude_nodes", spec.node_filter.exclude);
  visit("resource.image", spec.image);
  visit("resource.mounts", spec.program.mounts);
  visit("services", spec.program.services);
  visit("options.launch", spec.launch, std::array{LaunchMode::per_node, LaunchMode::per_gpu});
  visit("options.env_style", spec.env_style,
        std::array{EnvStyle::hai, EnvStyle::torch, EnvStyle::slurm});
  visit("options.suspend.grace", spec.suspend.grace, Duration(0s), Duration(1h));
  visit("options.suspend.signal", spec.suspend.signal);
  visit("options.suspend.exit_code", spec.suspend.exit_code, 1, 255);
  visit("options.checkpoint.period", spec.checkpoint_period, Duration(1s), Duration(30 * 24h));
  visit("options.restart.on_failure", spec.restart.on_failure);
  visit("options.restart.max", spec.restart.max, 0, 1'000);
  visit("options.timeout", spec.timeout, Duration(0s), Duration(3'653 * 24h));
  visit("options.watchdog", spec.watchdog, Duration(0s), Duration(30 * 24h));
  visit("options.core_size", spec.program.core_size, kUnlimited, kCoreBytesMax);
  visit("options.max_leaves", spec.max_leaves, 0, 100'000);
  visit("options.cross_zone", spec.cross_zone, std::array{CrossZone::allow, CrossZone::never});
  visit("options.interactive", spec.is_interactive);
  visit("options.release_early", spec.releases_early);
  visit("options.shared_in_group", spec.is_shared_in_group);
  visit("options.tags", spec.tags);
  visit("options.depends_on", spec.depends_on);
  visit("options.begin_at", spec.begin_at);
}

}  // namespace hai
