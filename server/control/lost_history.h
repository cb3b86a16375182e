#pragma once
// Whether the store has lost what was durable: PostgreSQL that failed over to a replica which
// lagged behind (design/0006). Agents and servers remember how far leaders' logs went; a log that
// ends before that has gone back. Pure.

#include <algorithm>
#include <optional>

#include "common/agent_messages.h"
#include "common/knobs.h"
#include "server/control/decision.h"
#include "server/control/sessions.h"

namespace hai {

class LostHistory {
 public:
  // Events that were durable and are not in the log any more.
  struct Range {
    int64_t first = 0;
    int64_t last = 0;
  };

  // A new epoch must be above it.
  Epoch floor() const { return seen_.epoch; }
  int64_t durable_seq() const { return seen_.seq; }

  // This server leads from here on, where the store's log ends.
  void term_began(LogPosition start);
  // Its log is durable up to here.
  void appended(LogPosition end) { seen_ = end; }
  // Another server leads, and its log was durable up to here.
  void leads_elsewhere(LogPosition position);
  // A node has seen an order of this. False: this term may be one that an agent takes for
  // another's, or is over; it must not go on.
  bool heard(LogPosition position);

  const std::optional<Range>& lost() const { return lost_; }
  // What the lost events had begun is known to be over.
  void settle() { lost_.reset(); }

 private:
  void lose(int64_t first, int64_t last);

  LogPosition seen_;   // the newest known to have been durable
  LogPosition start_;  // of this term
  std::optional<Range> lost_;
};

inline constexpr std::string_view kStoreWentBack = "store_went_back";

// Attempt numbers that ranks found on a node bear, and that the state has not given yet, are never
// given: two attempts must not pass for each other.
void skip_attempts_of_strays(Decision& decision, const Session& session);
// Every node that may run something has reported, and has no rank that the state does not know. Of
// a silent one nothing can be proven now: what the state says of its ranks and peers is out of
// date.
bool are_all_nodes_known(const ClusterState& state, const Sessions& sessions);
// Opens the incident, and closes it when the loss is settled.
void decide_lost_history(Decision& decision, const LostHistory& history);

}  // namespace hai
