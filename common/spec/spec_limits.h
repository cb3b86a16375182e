#pragma once
// The legal ranges of a job spec's numbers, by path, for the YAML parser and the validator alike.
// Private to common/spec.

#include <cstdint>

#include "common/job_spec.h"

namespace hai {

// visit(path, field, low, high) for each whole number of the spec; Spec is JobSpec or const
// JobSpec.
template <typename Spec, typename Visitor>
void for_each_count(Spec& spec, const Visitor& visit) {
  visit("resource.node_count", spec.node_count, 1, 100'000);
  visit("resource.gpus_per_node", spec.gpus_per_node, 0, 64);
  visit("resource.cpus_per_node", spec.cpus_per_node, 0, 65'536);
  visit("options.suspend.exit_code", spec.suspend.exit_code, 1, 255);
  visit("options.restart.max", spec.restart.max, 0, 1'000);
  visit("options.max_leaves", spec.max_leaves, 0, 100'000);
}

// visit(path, field, low, high) for each duration.
template <typename Spec, typename Visitor>
void for_each_duration(Spec& spec, const Visitor& visit) {
  visit("options.suspend.grace", spec.suspend.grace, Duration(0s), Duration(1h));
  visit("options.checkpoint.period", spec.checkpoint_period, Duration(1s), Duration(30 * 24h));
  visit("options.timeout", spec.timeout, Duration(0s), Duration(3'653 * 24h));
  visit("options.watchdog", spec.watchdog, Duration(0s), Duration(30 * 24h));
}

// What has a text of four digits for the year.
inline constexpr UnixTime kBeginAtLow{Duration(0)};
inline constexpr UnixTime kBeginAtHigh{Duration(253'402'300'799s)};  // 9999-12-31T23:59:59Z

inline constexpr int64_t kMemoryPerNodeBytesMax = int64_t{1} << 50;

}  // namespace hai
