#pragma once
// Whether the store has lost what was durable: PostgreSQL that failed over to a replica which
// lagged behind (design/0006). Agents and servers remember how far leaders' logs went; a log that
// ends before that has gone back. Pure.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/agent_messages.h"
#include "common/knobs.h"
#include "server/control/sessions.h"
#include "server/model/decision.h"

namespace hai {

class LostHistory {
 public:
  // Events that were durable and are not in the log any more.
  struct Range {
    int64_t first = 0;
    int64_t last = 0;
  };

  static constexpr int64_t kEpochsLostMax = 1'000'000;
  // One node's word ends no more than one term in this time, or a node that makes up epochs would
  // keep its leaders from deciding. What a second node says is taken at once.
  static constexpr Duration kEndsTermsApart = 5min;

  // A new epoch must be above it.
  Epoch floor() const { return seen_.epoch; }
  int64_t durable_seq() const { return seen_.seq; }

  // This server leads from here on, where the store's log ends.
  void term_began(LogPosition start);
  // Its log is durable up to here.
  void appended(LogPosition end) { seen_ = end; }
  // Another server leads, and its log was durable up to here.
  void leads_elsewhere(LogPosition position);
  // Whether a node can have seen this: each epoch is one change of leader, and a store that goes
  // back does not lose a million of them. What an agent makes up would else become ours for good.
  bool believes(LogPosition position) const {
    return position.epoch.value - std::max(seen_.epoch, start_.epoch).value <= kEpochsLostMax;
  }
  // A node has seen an order of this. A node that has seen what an earlier term lost says so until
  // this term's first order reaches it; when the loss is settled it can't open it again.
  enum class Word {
    goes_on,
    ends_term,  // an agent may take this term for another's, or it is over
    not_taken,  // it would end the term, and so did this node's word a moment ago
  };
  Word heard(const std::string& node, LogPosition position, MonoTime now);

  // There is a loss, and its extent is not known: a node has a rank that the state has never
  // placed, or an earlier leader has opened the incident and not closed it.
  void found_evidence();

  const std::optional<Range>& lost() const { return lost_; }
  // Every node is known (are_all_nodes_known), or not. True once they have been known for `needed`
  // on end: then what the lost events had begun is over.
  bool settles(bool all_known, MonoTime now, Duration needed);

 private:
  void lose(int64_t first, int64_t last);
  bool may_end_term(const std::string& node, MonoTime now);

  LogPosition seen_;                 // the newest known to have been durable
  LogPosition start_;                // of this term
  std::set<std::string> witnesses_;  // nodes that have spoken of a loss in this term
  std::optional<Range> lost_;
  std::optional<MonoTime> all_known_since_;
  std::map<std::string, MonoTime> ended_term_at_;  // by the node whose word ended one, lately
};

inline constexpr int kAttemptsSkippedMax = 1'000'000'000;
inline constexpr std::string_view kStoreWentBack = "store_went_back";

// Attempt numbers that ranks found on a node bear, and that the state has not given yet, are never
// given: two attempts must not pass for each other.
void skip_attempts_of_strays(Decision& decision, const Session& session);
// Whether a node reports a rank that it was ordered to run, of a job or an attempt that the state
// has never given. Its launch was durable before it left, so the events about it are lost.
bool has_rank_of_lost_history(const ClusterState& state, const AgentReport& report);
// Every node that is not down has reported, has no rank that the state does not know, and goes by
// the list of peers that the state says. Of a silent one nothing can be proven now: what the state
// says of its ranks and peers is out of date.
bool are_all_nodes_known(const ClusterState& state, const Sessions& sessions);
// For how long they must be, before anything starts again. The lost events may have registered a
// node, or brought one back that the state calls down, and it may be cut off now: within this time
// its ranks end at their fence, for all others have leases and none of them says that nobody leads.
Duration time_to_settle(const Knobs& knobs);
// How long a term listens at most: a heartbeat, and where heartbeats are far apart a minute.
Duration listening_time(const Knobs& knobs);
// Whether something new may start in this term: each node that is not down has reported in it, or
// has had a heartbeat's time to. Until then a loss may show that nobody who has spoken knows of.
bool has_heard_all(const ClusterState& state, const Sessions& sessions, const Knobs& knobs,
                   MonoTime now);
// Opens the incident, and closes it when the loss is settled.
void decide_lost_history(Decision& decision, const LostHistory& history);

}  // namespace hai
