#include "common/knobs.h"

#include <array>
#include <charconv>

namespace hai {
namespace {

struct DurationKnob {
  std::string_view name;
  Duration Knobs::*field;
  Duration low;
  Duration high;
};
struct CountKnob {
  std::string_view name;
  int Knobs::*field;
  int low;
  int high;
};

constexpr auto kDurations = std::to_array<DurationKnob>({
    {"heartbeat", &Knobs::heartbeat, 100ms, 5min},
    {"agent_lease", &Knobs::agent_lease, 1s, 1h},
    {"down_after", &Knobs::down_after, 1s, 2h},
    {"server_lease", &Knobs::server_lease, 500ms, 1min},
    {"resend_after", &Knobs::resend_after, 100ms, 5min},
    {"launch_timeout", &Knobs::launch_timeout, 1s, 1h},
    {"assumed_checkpoint_age", &Knobs::assumed_checkpoint_age, 0s, 24h},
    {"plan_period", &Knobs::plan_period, 10ms, 1min},
    {"plan_gap", &Knobs::plan_gap, 0s, 10s},
    {"tight_wait", &Knobs::tight_wait, 0s, 1h},
});
constexpr auto kCounts = std::to_array<CountKnob>({
    {"max_requeues", &Knobs::max_requeues, 0, 1'000},
    {"max_unfinished_jobs_per_user", &Knobs::max_unfinished_jobs_per_user, 1, 10'000'000},
    {"finished_jobs_kept", &Knobs::finished_jobs_kept, 0, 10'000'000},
    {"append_batch_max", &Knobs::append_batch_max, 1, 100'000},
});
// A knob added to the struct must be added to a table: config and simulator see only the tables.
constexpr size_t kTableBytes = kDurations.size() * sizeof(Duration) + kCounts.size() * sizeof(int);
static_assert((kTableBytes + alignof(Knobs) - 1) / alignof(Knobs) * alignof(Knobs) == sizeof(Knobs),
              "each knob needs its row in kDurations or kCounts");

Status set_duration(Knobs& knobs, const DurationKnob& knob, const std::string& value) {
  const Result<Duration> parsed = parse_duration(value);
  if (!parsed.is_ok()) return invalid_argument("{}: {}", knob.name, parsed.status().message());
  if (parsed.value() < knob.low || parsed.value() > knob.high) {
    return invalid_argument("{}: must be {}..{}, is {}", knob.name, format_duration(knob.low),
                            format_duration(knob.high), format_duration(parsed.value()));
  }
  knobs.*knob.field = parsed.value();
  return ok();
}

Status set_count(Knobs& knobs, const CountKnob& knob, const std::string& value) {
  int count = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), count);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
  if (!is_number || count < knob.low || count > knob.high) {
    return invalid_argument("{}: must be {}..{}, is '{}'", knob.name, knob.low, knob.high,
                            value.substr(0, 64));
  }
  knobs.*knob.field = count;
  return ok();
}

}  // namespace

const std::vector<KnobRange>& knob_ranges() {
  static const std::vector<KnobRange> ranges = [] {
    std::vector<KnobRange> result;
    for (const DurationKnob& knob : kDurations) {
      result.push_back({std::string(knob.name), knob.low.count(), knob.high.count(), true});
    }
    for (const CountKnob& knob : kCounts) {
      result.push_back({std::string(knob.name), knob.low, knob.high, false});
    }
    return result;
  }();
  return ranges;
}

Status set_knob(Knobs& knobs, const std::string& name, const std::string& value) {
  for (const DurationKnob& knob : kDurations) {
    if (knob.name == name) return set_duration(knobs, knob, value);
  }
  for (const CountKnob& knob : kCounts) {
    if (knob.name == name) return set_count(knobs, knob, value);
  }
  std::string known;
  for (const KnobRange& range : knob_ranges()) known += (known.empty() ? "" : ", ") + range.name;
  return invalid_argument("unknown knob '{}', known are: {}", name.substr(0, 64), known);
}

Status check_knobs(const Knobs& knobs) {
  for (const DurationKnob& knob : kDurations) {
    const Duration value = knobs.*knob.field;
    if (value < knob.low || value > knob.high) {
      return invalid_argument("{}: must be {}..{}, is {}", knob.name, format_duration(knob.low),
                              format_duration(knob.high), format_duration(value));
    }
  }
  for (const CountKnob& knob : kCounts) {
    const int value = knobs.*knob.field;
    if (value < knob.low || value > knob.high) {
      return invalid_argument("{}: must be {}..{}, is {}", knob.name, knob.low, knob.high, value);
    }
  }
  // A silent node may only be given up once it has surely killed its ranks, else a job runs twice.
  if (knobs.down_after <= knobs.agent_lease) {
    return invalid_argument("down_after ({}) must exceed agent_lease ({})",
                            format_duration(knobs.down_after), format_duration(knobs.agent_lease));
  }
  // One lost report must not end a lease.
  if (knobs.agent_lease < 3 * knobs.heartbeat) {
    return invalid_argument("agent_lease ({}) must be at least three heartbeats ({} each)",
                            format_duration(knobs.agent_lease), format_duration(knobs.heartbeat));
  }
  return ok();
}

}  // namespace hai
