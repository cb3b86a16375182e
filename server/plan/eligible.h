#pragma once
// Who may run at all, and at which level: owner active, not held, dependencies met, begin_at
// passed, quota free.

#include <map>
#include <optional>
#include <string>

#include "server/model/cluster_state.h"
#include "server/model/reason.h"

namespace hai {

// Quota used by live attempts plus what this pass has given away.
class QuotaLedger {
 public:
  explicit QuotaLedger(const ClusterState& state) : state_(state) {}

  // Whether `units` more fit the user's quota at this level.
  bool has_room(const User& user, const std::string& group, Priority level, int64_t units) const;
  void use(const std::string& user, const std::string& group, Priority level, int64_t units);
  int64_t used_units(const std::string& user, const std::string& group, Priority level) const;
  const ClusterState& state() const { return state_; }

 private:
  const ClusterState& state_;
  std::map<ClusterState::QuotaKey, int64_t> extra_;
};

// `auto` never rises above this level: beyond it a person has to ask (docs/design/0001).
inline constexpr Priority kAutoCeiling = Priority::normal;

// Why the job may not run now, quota aside.
std::optional<PendingReason> not_eligible(const ClusterState& state, const Job& job, UnixTime now);

// The level the job would run at: its own, or for `auto` the highest with quota free; nullopt and a
// reason if its quota is used up.
std::optional<Priority> effective_level(const QuotaLedger& ledger, const User& user, const Job& job,
                                        int64_t units, PendingReason* reason);

// Quota units one rank set of this job takes, judged by the group's largest node.
int64_t quota_units(const ClusterState& state, const JobSpec& spec);

}  // namespace hai
