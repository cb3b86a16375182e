#include "common/knobs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "common/check.h"
#include "common/nearest.h"
#include "common/whole_number.h"

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

constexpr std::string_view kPolicies[] = {"fifo", "feedback"};

constexpr auto kDurations = std::to_array<DurationKnob>({
    {"heartbeat", &Knobs::heartbeat, 100ms, 5min},
    {"agent_lease", &Knobs::agent_lease, 1s, 1h},
    {"down_after", &Knobs::down_after, 1s, 2h},
    {"server_lease", &Knobs::server_lease, 500ms, 1min},
    {"resend_after", &Knobs::resend_after, 100ms, 5min},
    {"launch_timeout", &Knobs::launch_timeout, 1s, 1h},
    {"image_timeout", &Knobs::image_timeout, 1s, 24h},
    {"assumed_checkpoint_age", &Knobs::assumed_checkpoint_age, 0s, 24h},
    {"plan_period", &Knobs::plan_period, 10ms, 1min},
    {"plan_gap", &Knobs::plan_gap, 0s, 10s},
    {"tight_wait", &Knobs::tight_wait, 0s, 1h},
    {"min_quantum", &Knobs::min_quantum, 0s, 168h},
    {"feedback_base", &Knobs::feedback_base, 1s, 10'000h},
    {"promote_after", &Knobs::promote_after, 1min, 10'000h},
    {"reserve_after", &Knobs::reserve_after, 0s, 168h},
    {"checkpoint_patience", &Knobs::checkpoint_patience, 0s, 1h},
    {"usage_half_life", &Knobs::usage_half_life, 1min, 10'000h},
    {"attribution_before", &Knobs::attribution_before, 0s, 24h},
    {"attribution_after", &Knobs::attribution_after, 0s, 1h},
    {"early_failure", &Knobs::early_failure, 0s, 24h},
    {"fault_patience", &Knobs::fault_patience, 0s, 10min},
    {"validate_period", &Knobs::validate_period, 0s, 10'000h},
    {"validate_deadline", &Knobs::validate_deadline, 0s, 10'000h},
    {"validation_timeout", &Knobs::validation_timeout, 1s, 24h},
    {"hook_timeout", &Knobs::hook_timeout, 1s, 24h},
    {"above_normal_lasts", &Knobs::above_normal_lasts, 0s, 10'000h},
});
constexpr auto kCounts = std::to_array<CountKnob>({
    {"interrupt_percent", &Knobs::interrupt_percent, 1, 100'000},
    {"mass_fault_nodes", &Knobs::mass_fault_nodes, 2, 10'000},
    {"lemon_score", &Knobs::lemon_score, 0, 10'000},
    {"repair_rounds", &Knobs::repair_rounds, 0, 100},
    {"max_validations", &Knobs::max_validations, 0, 10'000},
    {"max_cross_zone_jobs", &Knobs::max_cross_zone_jobs, 0, 1'000},
    {"defrag_moves_per_hour", &Knobs::defrag_moves_per_hour, 0, 100'000},
    {"max_requeues", &Knobs::max_requeues, 0, 1'000},
    {"max_unfinished_jobs_per_user", &Knobs::max_unfinished_jobs_per_user, 1, 10'000'000},
    {"interactive_nodes", &Knobs::interactive_nodes, 0, 100'000},
    {"interactive_nodes_per_user", &Knobs::interactive_nodes_per_user, 0, 100'000},
    {"finished_jobs_kept", &Knobs::finished_jobs_kept, 0, 10'000'000},
    {"append_batch_max", &Knobs::append_batch_max, 1, 100'000},
});
// Tenths of a percent.
constexpr auto kShares = std::to_array<CountKnob>({
    {"mass_loss", &Knobs::mass_loss_permille, 1, 1'000},
    {"switch_share", &Knobs::switch_share_permille, 1, 1'000},
});
// A knob added to the struct must be added to a table: config and simulator see only the tables.
constexpr size_t kTableBytes = kDurations.size() * sizeof(Duration) +
                               (kCounts.size() + kShares.size()) * sizeof(int) + sizeof(Policy);
static_assert((kTableBytes + alignof(Knobs) - 1) / alignof(Knobs) * alignof(Knobs) == sizeof(Knobs),
              "each knob needs its row in a table");

std::string share_text(int permille) {
  return permille % 10 == 0
             ? std::to_string(permille / 10) + "%"
             : std::to_string(permille / 10) + "." + std::to_string(permille % 10) + "%";
}

std::string range_text(const DurationKnob& knob) {
  return format_duration(knob.low) + ".." + format_duration(knob.high);
}

std::string range_text(const CountKnob& knob) {
  return std::to_string(knob.low) + ".." + std::to_string(knob.high);
}

std::string share_range_text(const CountKnob& knob) {
  return share_text(knob.low) + ".." + share_text(knob.high);
}

Status set_duration(Knobs& knobs, const DurationKnob& knob, const std::string& value) {
  const Result<Duration> parsed = parse_duration(value);
  if (!parsed.is_ok()) return invalid_argument("{}: {}", knob.name, parsed.status().message());
  if (parsed.value() < knob.low || parsed.value() > knob.high) {
    return invalid_argument("{}: must be {}, is {}", knob.name, range_text(knob),
                            format_duration(parsed.value()));
  }
  knobs.*knob.field = parsed.value();
  return ok();
}

Status set_count(Knobs& knobs, const CountKnob& knob, const std::string& value) {
  const std::optional<int> count = whole_number<int>(value);
  if (!count || *count < knob.low || *count > knob.high) {
    return invalid_argument("{}: must be {}, is '{}'", knob.name, range_text(knob),
                            value.substr(0, 64));
  }
  knobs.*knob.field = *count;
  return ok();
}

// "2%" or "0.5%".
Status set_share(Knobs& knobs, const CountKnob& knob, const std::string& value) {
  int whole = 0;
  int tenth = 0;
  const char* end = value.data() + value.size();
  auto parsed = std::from_chars(value.data(), end, whole);
  bool is_good = parsed.ec == std::errc() && whole >= 0 && whole <= 100;
  if (is_good && parsed.ptr != end && *parsed.ptr == '.') {
    is_good = parsed.ptr + 1 != end && parsed.ptr[1] >= '0' && parsed.ptr[1] <= '9';
    if (is_good) tenth = parsed.ptr[1] - '0', parsed.ptr += 2;
  }
  is_good = is_good && parsed.ptr + 1 == end && *parsed.ptr == '%';
  const int permille = 10 * whole + tenth;
  if (!is_good || permille < knob.low || permille > knob.high) {
    return invalid_argument("{}: must be {}, is '{}'", knob.name, share_range_text(knob),
                            value.substr(0, 64));
  }
  knobs.*knob.field = permille;
  return ok();
}

Status set_policy(Knobs& knobs, const std::string& value) {
  for (size_t i = 0; i < std::size(kPolicies); ++i) {
    if (kPolicies[i] != value) continue;
    knobs.policy = static_cast<Policy>(i);
    return ok();
  }
  return invalid_argument("policy: must be fifo or feedback, is '{}'", value.substr(0, 64));
}

}  // namespace

std::string_view to_string(Policy policy) { return kPolicies[static_cast<size_t>(policy)]; }

const std::vector<KnobRange>& knob_ranges() {
  static const std::vector<KnobRange> ranges = [] {
    std::vector<KnobRange> result;
    for (const DurationKnob& knob : kDurations) {
      result.push_back(
          {std::string(knob.name), knob.low.count(), knob.high.count(), true, range_text(knob)});
    }
    for (const CountKnob& knob : kCounts) {
      result.push_back({std::string(knob.name), knob.low, knob.high, false, range_text(knob)});
    }
    for (const CountKnob& knob : kShares) {
      result.push_back(
          {std::string(knob.name), knob.low, knob.high, false, share_range_text(knob), true});
    }
    result.push_back({.name = "policy",
                      .legal = fmt::format("{}", fmt::join(kPolicies, ", ")),
                      .words = {std::begin(kPolicies), std::end(kPolicies)}});
    return result;
  }();
  return ranges;
}

Status check_knob_name(const std::string& name) {
  std::string known;
  std::vector<std::string> names;
  for (const KnobRange& range : knob_ranges()) {
    if (range.name == name) return ok();
    known += (known.empty() ? "" : ", ") + range.name;
    names.push_back(range.name);
  }
  const std::string near = nearest(name, names);
  return invalid_argument("unknown knob '{}'{}, known are: {}", name.substr(0, 64),
                          near.empty() ? "" : fmt::format(": did you mean {}?", near), known);
}

bool may_change_while_running(const std::string& knob) {
  constexpr std::string_view kFixed[] = {"heartbeat",    "agent_lease",      "down_after",
                                         "server_lease", "resend_after",     "launch_timeout",
                                         "plan_period",  "append_batch_max", "finished_jobs_kept"};
  return std::ranges::find(kFixed, knob) == std::end(kFixed);
}

Status set_knob(Knobs& knobs, const std::string& name, const std::string& value) {
  for (const DurationKnob& knob : kDurations) {
    if (knob.name == name) return set_duration(knobs, knob, value);
  }
  for (const CountKnob& knob : kCounts) {
    if (knob.name == name) return set_count(knobs, knob, value);
  }
  for (const CountKnob& knob : kShares) {
    if (knob.name == name) return set_share(knobs, knob, value);
  }
  if (name == "policy") return set_policy(knobs, value);
  return check_knob_name(name);
}

std::string get_knob(const Knobs& knobs, const std::string& name) {
  for (const DurationKnob& knob : kDurations) {
    if (knob.name == name) return format_duration(knobs.*knob.field);
  }
  for (const CountKnob& knob : kCounts) {
    if (knob.name == name) return std::to_string(knobs.*knob.field);
  }
  for (const CountKnob& knob : kShares) {
    if (knob.name == name) return share_text(knobs.*knob.field);
  }
  CHECK(name == "policy");
  return std::string(to_string(knobs.policy));
}

std::map<std::string, std::string> knobs_as_text(const Knobs& knobs) {
  std::map<std::string, std::string> texts;
  for (const KnobRange& range : knob_ranges()) texts[range.name] = get_knob(knobs, range.name);
  return texts;
}

// What an agent whose lease has ended needs to ask its peers.
constexpr Duration kAskTime = 4s;

Status check_knobs(const Knobs& knobs) {
  for (const DurationKnob& knob : kDurations) {
    const Duration value = knobs.*knob.field;
    if (value < knob.low || value > knob.high) {
      return invalid_argument("{}: must be {}, is {}", knob.name, range_text(knob),
                              format_duration(value));
    }
  }
  for (const CountKnob& knob : kCounts) {
    const int value = knobs.*knob.field;
    if (value < knob.low || value > knob.high) {
      return invalid_argument("{}: must be {}..{}, is {}", knob.name, knob.low, knob.high, value);
    }
  }
  // A silent node may only be given up once it has surely killed its ranks, else a job runs twice.
  // In between, it asks peers whose own leases may have been renewed a heartbeat after its own.
  if (knobs.down_after < knobs.agent_lease + knobs.heartbeat + kAskTime) {
    return invalid_argument(
        "down_after ({}) must be at least agent_lease ({}) + heartbeat ({}) + {}",
        format_duration(knobs.down_after), format_duration(knobs.agent_lease),
        format_duration(knobs.heartbeat), format_duration(kAskTime));
  }
  // One lost report must not end a lease.
  if (knobs.agent_lease < 3 * knobs.heartbeat) {
    return invalid_argument("agent_lease ({}) must be at least three heartbeats ({} each)",
                            format_duration(knobs.agent_lease), format_duration(knobs.heartbeat));
  }
  return ok();
}

}  // namespace hai
