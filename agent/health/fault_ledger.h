#pragma once
// The faults the kernel has reported, by what they are about: counted, coalesced, worth more when
// they repeat. Those worth validating or more stand until they are cleared or the machine restarts;
// the others for a while. Bounded. Pure.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/health/check.h"
#include "agent/health/fault_rule.h"
#include "agent/health/results.h"

namespace hai {

struct FaultEvent {
  CheckSubject about;
  std::string what;   // "Xid 79"; "" = its meaning says enough
  std::string group;  // faults of one thing: a fault that `follows` another of its group is no news
  FaultRule rule;
  std::string line;
  UnixTime at{};
};

struct StandingFault {
  FaultEvent event;                // the last; `at` is when it happened, not its echoes
  int64_t count = 1;               // without echoes
  std::vector<UnixTime> times;     // of the last kTimesMax, oldest first
  std::vector<std::string> lines;  // the first and the last
};

class FaultLedger {
 public:
  using Key = std::pair<std::string, std::string>;  // name, subject

  void add(const FaultEvent& event);
  // Forgets what happened up to `at`, and will not hear of it again.
  void clear(const ClearedFault& cleared);
  // What stands, one result each, sorted; forgets what no longer does.
  std::vector<CheckResult> results(UnixTime now);

  const std::map<Key, StandingFault>& faults() const { return faults_; }
  const std::map<Key, UnixTime>& cleared() const { return cleared_; }
  void restore(std::map<Key, StandingFault> faults, std::map<Key, UnixTime> cleared);
  int64_t left_out() const { return left_out_; }

  static constexpr Duration kEchoes{5s};     // the same again within this is the same
  static constexpr Duration kStands{15min};  // for log and app: the attribution window and more
  static constexpr size_t kFaultsMax = 128;
  static constexpr size_t kTimesMax = 16;
  static constexpr size_t kLinesMax = 8;

 private:
  bool is_echo_of_another(const FaultEvent& event) const;
  std::map<Key, StandingFault> faults_;
  std::map<Key, UnixTime> cleared_;
  int64_t left_out_ = 0;
};

// What the fault is worth by now, with how often it came.
HealthTier tier_of(const StandingFault& fault);

}  // namespace hai
