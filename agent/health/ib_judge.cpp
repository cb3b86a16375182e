#include "agent/health/ib_judge.h"

#include <algorithm>

#include "agent/health/results.h"

namespace hai {

namespace {

constexpr size_t kStepsMax = 256;

CheckSubject about(const char* name, const std::string& port) {
  return {.name = name, .subject = port, .gpus = {}};
}

int64_t counted_since(const std::optional<int64_t>& before, const std::optional<int64_t>& after) {
  return before && after ? hai::counted_since(*before, *after) : 0;
}

std::string evidence_of(const IbPort& port) {
  return fmt::format("state {}, phys_state {}, rate {} Gb/s, link_downed {}\n", port.state,
                     port.phys_state, port.rate_gigabits, port.link_downed.value_or(-1));
}

int64_t to_seconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

}  // namespace

int64_t counted_since(int64_t before, int64_t after) {
  return after >= before ? after - before : after;
}

void IbPortHistory::add(MonoTime now, const std::optional<IbPort>& port, Duration window) {
  if (port && last_seen_) compare(now, *last_seen_, *port);
  if (port && !data_at_) data_at_ = now;
  const bool is_up = port && port->is_up();
  if (is_up) {
    down_since_.reset();
    was_ever_up_ = true;
    best_rate_ = std::max(best_rate_, port->rate_gigabits);
  } else if (!down_since_) {
    down_since_ = now;
  }
  if (port) last_seen_ = port;
  last_ = port;
  sampled_at_ = now;
  while (!steps_.empty() && (now - steps_.front().at > window || steps_.size() > kStepsMax))
    steps_.pop_front();
}

void IbPortHistory::compare(MonoTime now, const IbPort& before, const IbPort& after) {
  Step step{.at = now,
            .downs = counted_since(before.link_downed, after.link_downed),
            .recoveries = counted_since(before.link_error_recovery, after.link_error_recovery)};
  // A loss of the link that no counter tells of (RoCE) is still seen in the state.
  const bool went_down = last_ && last_->is_up() && !after.is_up();
  if (!after.link_downed && went_down) step.downs = 1;
  if (step.downs > 0 || step.recoveries > 0) steps_.push_back(step);
  if (counted_since(before.received_words, after.received_words) > 0) data_at_ = now;
  const double minutes = static_cast<double>((now - sampled_at_).count()) / 60e6;
  const int64_t errors = counted_since(before.symbol_errors, after.symbol_errors) +
                         counted_since(before.receive_errors, after.receive_errors);
  errors_per_minute_ = minutes > 0 ? static_cast<double>(errors) / minutes : 0;
}

std::optional<Duration> IbPortHistory::down_for(MonoTime now) const {
  if (!down_since_) return std::nullopt;
  return now - *down_since_;
}

Duration IbPortHistory::idle_for(MonoTime now) const {
  return data_at_ ? now - *data_at_ : Duration::max();
}

int64_t IbPortHistory::sum(int64_t Step::*member) const {
  int64_t sum = 0;
  for (const Step& step : steps_) sum += step.*member;
  return sum;
}

CheckResult judge_ib_link(const std::string& port, const IbPortHistory& history,
                          const IbExpectation& expected, const HealthLimits& limits, MonoTime now) {
  const CheckSubject subject = about("ib_link", port);
  const std::optional<Duration> down = history.down_for(now);
  if (down && !expected.is_required && !history.was_ever_up()) {
    return make_ok(subject, "not in use: down since the agent started, and not expected");
  }
  if (down) {
    const std::string seen = history.is_gone() ? "gone"
                                               : fmt::format("{}, {}", history.last()->state,
                                                             history.last()->phys_state);
    const std::string summary = fmt::format("port is not up ({}) since {} s, limit {} s", seen,
                                            to_seconds(*down), limits.ib_down_seconds);
    const std::string evidence = history.is_gone() ? "" : evidence_of(*history.last());
    if (*down < limits.ib_down_seconds * 1s) return make_warn(subject, summary, evidence);
    return make_fail(subject, HealthTier::evict, summary, evidence);
  }
  const int64_t want =
      expected.rate_gigabits > 0 ? expected.rate_gigabits : history.best_rate_gigabits();
  const int64_t rate = history.last()->rate_gigabits;
  if (rate < want) {
    return make_fail(subject, HealthTier::validate,
                     fmt::format("rate is {} Gb/s, expected {} Gb/s", rate, want),
                     evidence_of(*history.last()));
  }
  return make_ok(subject, fmt::format("up at {} Gb/s", rate));
}

CheckResult judge_ib_flaps(const std::string& port, const IbPortHistory& history,
                           const HealthLimits& limits) {
  const CheckSubject subject = about("ib_flaps", port);
  const int64_t flaps = history.flaps();
  const int64_t recoveries = history.recoveries();
  const std::string summary = fmt::format("lost its link {} times in {} min, limit {}", flaps,
                                          limits.ib_flap_minutes, limits.ib_flaps);
  if (flaps >= limits.ib_flaps) return make_fail(subject, HealthTier::drain, summary);
  if (flaps > 0) return make_warn(subject, summary);
  if (recoveries > limits.ib_recoveries) {
    return make_warn(subject,
                     fmt::format("recovered its link {} times in {} min, limit {}", recoveries,
                                 limits.ib_flap_minutes, limits.ib_recoveries));
  }
  return make_ok(subject, "link was not lost");
}

CheckResult judge_ib_errors(const std::string& port, const IbPortHistory& history,
                            const HealthLimits& limits) {
  const CheckSubject subject = about("ib_errors", port);
  const double errors = history.errors_per_minute();
  const std::string summary = fmt::format("{:.0f} symbol and receive errors a minute, limit {}",
                                          errors, limits.ib_symbol_errors_per_minute);
  if (errors > static_cast<double>(limits.ib_symbol_errors_per_minute))
    return make_warn(subject, summary);
  return make_ok(subject, summary);
}

}  // namespace hai
