#include "agent/health/ib_judge.h"

#include <algorithm>

#include "agent/health/results.h"

namespace hai {

namespace {

constexpr size_t kIbStepsMax = 256;

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
  while (!steps_.empty() && (now - steps_.front().at > window || steps_.size() > kIbStepsMax))
    steps_.pop_front();
}

void IbPortHistory::compare(MonoTime now, const IbPort& before, const IbPort& after) {
  Step step{.at = now,
            .downs = counted_since(before.link_downed, after.link_downed),
            .recoveries = counted_since(before.link_error_recovery, after.link_error_recovery)};
  // A loss of the link that no counter tells of (RoCE) is still seen in the state.
  const bool went_down = !down_since_ && !after.is_up();
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

void IbPortHistory::remember(const std::string& port, CheckMemory& memory) const {
  if (was_ever_up_) memory.lasting[port]["best_rate"] = {best_rate_};
  std::map<std::string, std::vector<int64_t>>& facts = memory.of_boot[port];
  if (down_since_) facts["down_since"] = {to_number(*down_since_)};
  if (last_seen_ && last_seen_->link_downed) facts["link_downed"] = {*last_seen_->link_downed};
  if (last_seen_ && last_seen_->link_error_recovery)
    facts["link_error_recovery"] = {*last_seen_->link_error_recovery};
  std::vector<int64_t> steps;
  for (const Step& step : steps_)
    steps.insert(steps.end(), {to_number(step.at), step.downs, step.recoveries});
  if (!steps.empty()) facts["link_losses"] = std::move(steps);
}

void IbPortHistory::restore(const std::string& port, const CheckMemory& memory) {
  const std::optional<int64_t> best_rate = number_of(memory.lasting, port, "best_rate");
  was_ever_up_ = best_rate.has_value();
  best_rate_ = best_rate.value_or(0);
  if (!memory.of_boot.contains(port)) return;
  down_since_ = moment_of(memory.of_boot, port, "down_since");
  // What it counted meanwhile is news.
  last_seen_.emplace();
  last_seen_->link_downed = number_of(memory.of_boot, port, "link_downed");
  last_seen_->link_error_recovery = number_of(memory.of_boot, port, "link_error_recovery");
  const std::vector<int64_t> steps = numbers_of(memory.of_boot, port, "link_losses");
  for (size_t i = 0; i + 2 < steps.size(); i += 3)
    steps_.push_back(
        {.at = to_moment(steps[i]), .downs = steps[i + 1], .recoveries = steps[i + 2]});
}

CheckResult judge_ib_link(const std::string& port, const IbPortHistory& history,
                          const IbExpectation& expected, const HealthLimits& limits, MonoTime now) {
  static constexpr const char* kRemedy = "service: cable, port, adapter";
  const CheckSubject subject = about("ib_link", port);
  const std::optional<Duration> down = history.down_for(now);
  if (down && !expected.is_required && !history.was_ever_up()) {
    return make_ok(subject, "not in use: never seen up, and not expected");
  }
  if (down) {
    const std::string seen = history.is_gone() ? "gone"
                                               : fmt::format("{}, {}", history.last()->state,
                                                             history.last()->phys_state);
    const std::string summary = fmt::format("port is not up ({}) since {} s, limit {} s", seen,
                                            to_seconds(*down), limits.ib_down_seconds);
    const CheckFinding finding{
        .summary = summary,
        .remedy = kRemedy,
        .evidence = history.is_gone() ? std::string() : evidence_of(*history.last())};
    if (*down < limits.ib_down_seconds * 1s) return make_warn(subject, finding);
    return make_fail(subject, HealthTier::evict, finding);
  }
  const int64_t want =
      expected.rate_gigabits > 0 ? expected.rate_gigabits : history.best_rate_gigabits();
  const int64_t rate = history.last()->rate_gigabits;
  if (rate < want) {
    return make_fail(subject, HealthTier::validate,
                     {.summary = fmt::format("rate is {} Gb/s, expected {} Gb/s", rate, want),
                      .remedy = kRemedy,
                      .evidence = evidence_of(*history.last())});
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
  const CheckFinding finding{.summary = summary, .remedy = "service: cable, port"};
  if (flaps >= limits.ib_flaps) return make_fail(subject, HealthTier::drain, finding);
  if (flaps > 0) return make_warn(subject, finding);
  if (recoveries > limits.ib_recoveries) {
    return make_warn(
        subject, {.summary = fmt::format("recovered its link {} times in {} min, limit {}",
                                         recoveries, limits.ib_flap_minutes, limits.ib_recoveries),
                  .remedy = "clean or replace the cable"});
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
    return make_warn(subject, {.summary = summary, .remedy = "clean or replace the cable"});
  return make_ok(subject, summary);
}

}  // namespace hai
