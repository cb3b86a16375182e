#pragma once
// What the readings of a port over time are worth. Pure.

#include <deque>
#include <optional>
#include <string>

#include "agent/health/check_memory.h"
#include "agent/health/health_limits.h"
#include "agent/health/ib_port.h"
#include "common/health.h"
#include "common/time.h"

namespace hai {

// Counters only rise; one that fell has begun anew, so all of it is new.
int64_t counted_since(int64_t before, int64_t after);

// What a port's past tells. Bounded by the window of flaps.
class IbPortHistory {
 public:
  // `port` as it is now; none = its device or port is gone.
  void add(MonoTime now, const std::optional<IbPort>& port, Duration window);

  std::optional<Duration> down_for(MonoTime now) const;  // none = up
  bool was_ever_up() const { return was_ever_up_; }
  bool is_gone() const { return !last_; }
  int64_t best_rate_gigabits() const { return best_rate_; }
  int64_t flaps() const { return sum(&Step::downs); }  // in the window
  int64_t recoveries() const { return sum(&Step::recoveries); }
  double errors_per_minute() const { return errors_per_minute_; }  // since the sample before
  Duration idle_for(MonoTime now) const;                           // no data received
  const std::optional<IbPort>& last() const { return last_; }

  // Adds what it would not find out again, as facts about `port`; takes over such facts.
  void remember(const std::string& port, CheckMemory& memory) const;
  void restore(const std::string& port, const CheckMemory& memory);

 private:
  struct Step {
    MonoTime at{};
    int64_t downs = 0;
    int64_t recoveries = 0;
  };
  int64_t sum(int64_t Step::*member) const;
  void compare(MonoTime now, const IbPort& before, const IbPort& after);

  std::optional<IbPort> last_;
  std::optional<IbPort> last_seen_;  // before it went
  MonoTime sampled_at_{};
  std::optional<MonoTime> down_since_;
  std::optional<MonoTime> data_at_;
  bool was_ever_up_ = false;
  int64_t best_rate_ = 0;
  double errors_per_minute_ = 0;
  std::deque<Step> steps_;
};

struct IbExpectation {
  bool is_required = false;   // named in the config
  int64_t rate_gigabits = 0;  // 0 = the best it has had
};

CheckResult judge_ib_link(const std::string& port, const IbPortHistory& history,
                          const IbExpectation& expected, const HealthLimits& limits, MonoTime now);
CheckResult judge_ib_flaps(const std::string& port, const IbPortHistory& history,
                           const HealthLimits& limits);
CheckResult judge_ib_errors(const std::string& port, const IbPortHistory& history,
                            const HealthLimits& limits);

}  // namespace hai
