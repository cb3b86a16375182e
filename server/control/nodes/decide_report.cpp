#include "server/control/nodes/decide_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/count_of.h"
#include "common/hostlist.h"
#include "server/control/attempt/attempt_flow.h"
#include "server/control/health/decide_health.h"
#include "server/control/health/decide_validate.h"
#include "server/plan/carry_out.h"

namespace hai {
namespace {

// How often a node's checks may change: so many times at once, and then once in so long. One that
// told others in each report would fill the store. Nothing is lost by it: the latest is taken
// later.
constexpr int kCheckChangesAtOnce = 100;
constexpr Duration kPerCheckChange = 1s;

// A node where ranks can't start, e.g. because its disk is full, is always free: without a pause it
// would draw in every waiting job, one after the other, and use up their requeues.
constexpr Duration kLaunchPause = 10s;

// The rank this status is about, if its attempt is the live one and places it on this node.
const Rank* live_rank(const ClusterState& state, NodeId node, const RankKey& key) {
  const Job* job = state.find(key.job);
  if (job == nullptr || !job->has_live_attempt() || job->attempt->number != key.attempt)
    return nullptr;
  if (key.rank < 0 || key.rank >= static_cast<int>(job->attempt->ranks.size())) return nullptr;
  const Rank& rank = job->attempt->ranks[key.rank];
  return rank.place.node == node ? &rank : nullptr;
}

// So long after a word of a program no other of its kind is taken, and longer by as much again for
// each KiB it has: a program that speaks in a loop would fill the store, with half a gigabyte in
// 30 s. Nothing is lost by it: each report repeats the latest word.
Duration pause_after(const std::string& word) {
  return 1s * (1 + static_cast<int64_t>(word.size() / 1024));
}

// Of all programs of a user a thousand words at once, and then 20 a second, of a KiB each; one with
// many ranks would fill the store as well. He pays for none that is not taken.
constexpr Duration kUserAheadMax = 50s;
constexpr int kUserWordsPerSecond = 20;

// The newest one counts. A node whose clock is ahead must not make its checkpoint the newest for
// hours: what it says is from the future is from now, and no news when it is said again. Gives how
// long no other is taken; 0 = this one was no news.
Duration take_checkpoint(Decision& decision, const Job& job, const RankStatus& status) {
  CheckpointInfo reported = *status.checkpoint;
  const std::optional<CheckpointInfo>& known = job.checkpoint;
  // Each report names the last checkpoint again. That of a node whose clock is ahead was taken as
  // of then, and is no news when that time has come.
  const bool is_same = known && known->path == reported.path && known->step == reported.step;
  if (is_same && reported.at - known->at <= 2 * decision.knobs().heartbeat) return 0s;
  if (reported.at > decision.now()) {
    if (is_same) return 0s;
    reported.at = decision.now();
  }
  if (known && reported.at <= known->at) return 0s;
  const Duration pause = pause_after(reported.path);
  decision.emit(CheckpointReported{job.id, status.key.attempt, std::move(reported)});
  return pause;
}

// If ranks differ the one that spoke last counts: what was taken from a rank is no news when its
// next report repeats it.
Duration take_life_state(Decision& decision, TakenWords& taken, const Job& job,
                         const RankStatus& status) {
  if (taken.whole_life_state == status.whole_life_state) return 0s;
  taken.whole_life_state = status.whole_life_state;
  const std::string& said = *status.whole_life_state;
  if (said == job.whole_life_state) return 0s;
  decision.emit(LifeStateSet{job.id, status.key.attempt, said});
  return pause_after(said);
}

void take_program_words(Decision& decision, Session& session, const RankStatus& status) {
  if (!status.checkpoint && !status.whole_life_state) return;
  TakenWords& taken = session.words[status.key];
  const Job& job = *decision.state().find(status.key.job);
  const UnixTime now = decision.now();
  UnixTime unpaid{};
  UnixTime& paid = session.words_paid ? (*session.words_paid)[job.user] : unpaid;
  const auto is_heard = [&](UnixTime quiet_until) {
    if (status.phase == RankPhase::exited) return true;  // its last word
    return now >= quiet_until && paid - now < kUserAheadMax;
  };
  const auto pay = [&](Duration pause, UnixTime& quiet_until) {
    if (pause == Duration(0)) return;
    quiet_until = now + pause;
    paid = std::max(paid, now) + pause / kUserWordsPerSecond;
  };
  if (status.checkpoint && is_heard(taken.no_checkpoint_until)) {
    pay(take_checkpoint(decision, job, status), taken.no_checkpoint_until);
  }
  if (status.whole_life_state && is_heard(taken.no_life_state_until)) {
    pay(take_life_state(decision, taken, job, status), taken.no_life_state_until);
  }
}

// A program that ended by itself before it could see the suspend request has ended as it meant to:
// else a job with a suspend signal that has just succeeded would run again. Of a gang another rank
// may have seen it.
bool ended_unseen(const Attempt& attempt, const RankStatus& status) {
  return attempt.state == AttemptState::suspending && !attempt.end && attempt.ranks.size() == 1 &&
         status.phase == RankPhase::exited && status.cause == ExitCause::program &&
         !status.suspend_notified;
}

// It has done its part, others have not, and its job wants no place kept that is not used. All
// places of an attempt that ends come back together.
bool gives_place_back(const Job& job, const RankStatus& status, const RankCounts& counts) {
  const Attempt& attempt = *job.attempt;
  const bool is_leaving =
      attempt.state == AttemptState::suspending && job.spec->suspend.has_signal();
  const bool is_done =
      status.cause == ExitCause::program && status.exit_code == 0 && !is_leaving && !attempt.end;
  return job.spec->releases_early && is_done && attempt.ranks.size() - counts.gone > 1;
}

// Its group is judged as a whole.
bool is_bisected(const Decision& decision, NodeId node) {
  return decision.state().find(node)->health.repair.step == RepairStep::bisecting;
}

void take_status(Decision& decision, Session& session, const RankStatus& status) {
  const RankKey& key = status.key;
  const Rank* rank = live_rank(decision.state(), session.node, key);
  if (rank == nullptr || is_gone(rank->state)) return;
  take_program_words(decision, session, status);
  if (status.uses_sdk && !decision.state().find(key.job)->uses_sdk) {
    decision.emit(JobUsesSdk{key.job});
  }
  const Attempt& attempt = *decision.state().find(key.job)->attempt;
  if (attempt.state == AttemptState::placed) decision.emit(AttemptStarting{key.job, key.attempt});
  // Only a program that runs ends by itself.
  bool has_run = status.phase == RankPhase::running || status.cause == ExitCause::program ||
                 status.cause == ExitCause::go_suspend || status.cause == ExitCause::left;
  if (status.cause == ExitCause::lost && rank->state == RankState::pending) {
    session.no_launches_until = decision.now() + kLaunchPause;
    session.launch_trouble = status.message;
  }
  if (has_run && rank->state == RankState::pending)
    decision.emit(RankRunning{key.job, key.attempt, key.rank});
  if (ended_unseen(attempt, status)) {
    decision.emit(AttemptContinued{key.job, key.attempt, "it ended before it saw the request"});
  }
  if (status.phase == RankPhase::exited) {
    const Job& job = *decision.state().find(key.job);
    if (job.spec->is_validation && status.cause == ExitCause::program &&
        !is_bisected(decision, session.node)) {
      judge_validation(decision, job, static_cast<size_t>(key.rank), status);
    }
    RankEnded ended{key.job,      key.attempt,      key.rank,       RankState::exited,
                    status.cause, status.exit_code, status.message, status.usage};
    if (gives_place_back(job, status, decision.state().rank_counts(key.job))) {
      const AttemptUsage usage = rank_usage(decision, job, *rank);
      ended.state = RankState::released;
      ended.gpu_seconds = usage.had;
      ended.user_gpu_seconds = usage.of_user;
    }
    decision.emit(std::move(ended));
  }
  settle_attempt(decision, key.job);
}

// A rank the server saw running and the agent knows nothing of any more is lost.
void lose_missing_ranks(Decision& decision, NodeId node, const Session& session) {
  std::vector<RankKey> missing;
  for (const Occupant& occupant : decision.state().find(node)->occupants) {
    const Attempt& attempt = *decision.state().find(occupant.job)->attempt;
    RankKey key{occupant.job, attempt.number, occupant.rank};
    if (attempt.ranks[occupant.rank].state == RankState::running && !session.ranks.contains(key))
      missing.push_back(key);
  }
  for (const RankKey& key : missing) {
    if (live_rank(decision.state(), node, key) == nullptr) continue;
    decision.emit(RankEnded{key.job, key.attempt, key.rank, RankState::lost, ExitCause::lost, 0,
                            "the agent does not know it any more"});
    settle_attempt(decision, key.job);
  }
}

// While the node goes by peers that are not known here, nobody can say what they would tell it, and
// its silence could prove nothing (fencing.h). So it is with a node that has joined again after it
// was taken out: it still goes by the list of its old row until it takes a new one.
bool goes_by_unknown_peers(const Node& node, const Session& session) {
  const NodePeers& peers = node.peers;
  if (node.facts.peer_port == 0) return false;  // it asks nobody, and no list will be named
  if (session.peers_version > peers.version) return true;
  const bool has_confirmed_none = peers.named && peers.confirmed.empty();
  return has_confirmed_none && session.peers_version > 0 && session.peers_version < peers.version;
}

// Why the node may get no ranks though its agent is in contact; "" if it may.
std::string find_trouble(const Decision& decision, const Session& session) {
  int strays = count_strays(decision.state(), session.node, session);
  if (strays > 0) {
    return fmt::format("{} rank{} of ended attempts still there", strays, strays == 1 ? "" : "s");
  }
  if (goes_by_unknown_peers(*decision.state().find(session.node), session)) {
    return "it goes by a list of peers that is not known here, until it takes a new one";
  }
  if (decision.now() >= session.no_launches_until) return "";
  return "a rank could not start: " + session.launch_trouble;
}

void settle_liveness(Decision& decision, NodeId id, const Session& session) {
  const Node& node = *decision.state().find(id);
  std::string reason = find_trouble(decision, session);
  if (!reason.empty()) {
    if (node.liveness == Liveness::suspect && node.liveness_reason == reason) return;
    decision.emit(NodeLivenessChanged{id, Liveness::suspect, std::move(reason)});
    return;
  }
  if (node.liveness != Liveness::up) decision.emit(NodeLivenessChanged{id, Liveness::up, ""});
}

NodeId next_node_id(const ClusterState& state) {
  return state.nodes().empty() ? NodeId{1} : NodeId{state.nodes().rbegin()->first.value + 1};
}

Status check_facts(const NodeFacts& facts, const std::string& node_name) {
  if (facts.name.empty() || facts.name != node_name)
    return invalid_argument("node name: '{}' in the facts, '{}' in the stream", facts.name,
                            node_name);
  if (!is_node_name(facts.name)) {
    return invalid_argument("node name '{}': may have letters, digits and . _ - only",
                            facts.name.substr(0, 255));
  }
  if (facts.group.empty()) return invalid_argument("node {}: group must not be empty", facts.name);
  if (facts.gpus < 0 || facts.gpus > GpuSet::kMax) {
    return invalid_argument("node {}: gpus must be 0..{}, is {}", facts.name, GpuSet::kMax,
                            facts.gpus);
  }
  return ok();
}

Status check_change_under_jobs(const Node& known, const NodeFacts& facts) {
  if (known.facts.gpus != facts.gpus) {
    return failed_precondition(
        "node {}: has {} now and had {}, and jobs are on it; it may return when they are gone",
        known.facts.name, count_of(facts.gpus, "GPU"), known.facts.gpus);
  }
  return ok();
}

bool has_jobs(const Node& node) { return !node.occupants.empty() || !node.held.empty(); }

// Of a node with jobs, group and zone stay what they were placed by. What an operator has set
// counts, not what the agent says.
NodeFacts facts_for_now(const Node& known, NodeFacts facts) {
  const NodePosition after = settled(position_of(facts), known.set);
  if (after.group == known.facts.group && after.zone == known.facts.zone) return facts;
  const NodeFacts before = known.told_facts();
  facts.group = before.group;
  facts.zone = before.zone;
  return facts;
}

// What its agent said while jobs were on it.
void take_facts_kept_back(Decision& decision, const Session& session) {
  const Node& node = *decision.state().find(session.node);
  if (has_jobs(node) || !session.facts || node.told_facts() == *session.facts) return;
  decision.emit(NodeRegistered{node.id, *session.facts});
}

}  // namespace

int count_strays(const ClusterState& state, NodeId node, const Session& session) {
  int strays = 0;
  for (const auto& [key, status] : session.ranks) {
    if (status.phase == RankPhase::exited) continue;
    const Rank* rank = live_rank(state, node, key);
    strays += rank == nullptr || is_gone(rank->state);
  }
  return strays;
}

Status decide_registration(Decision& decision, Sessions& sessions, Session& session,
                           const AgentReport& report) {
  const ClusterState& state = decision.state();
  if (!report.facts && !session.facts)
    return failed_precondition("the first report of a connection must carry the node's facts");
  const NodeFacts facts = report.facts ? *report.facts : *session.facts;
  RETURN_IF_ERROR(check_facts(facts, session.node_name));
  const Node* known = state.find_node(facts.name);
  if (known != nullptr && has_jobs(*known)) RETURN_IF_ERROR(check_change_under_jobs(*known, facts));
  // Each change is written down: a node that told others in each report would fill the store.
  if (session.node && facts != *session.facts) {
    return failed_precondition(
        "node {}: its facts change only with a new connection, so it has to connect anew",
        facts.name);
  }
  session.facts = facts;
  NodeId id = known == nullptr ? next_node_id(state) : known->id;
  const NodeFacts taken =
      known != nullptr && has_jobs(*known) ? facts_for_now(*known, facts) : facts;
  if (known == nullptr || !(known->told_facts() == taken)) decision.emit(NodeRegistered{id, taken});
  sessions.bind(session, id);
  return ok();
}

void decide_report(Decision& decision, Session& session, const AgentReport& report) {
  session.has_reported = true;
  session.peers_version = report.peers_version;
  const NodePeers& peers = decision.state().find(session.node)->peers;
  if (peers.named && peers.version == report.peers_version) {
    decision.emit(NodePeersConfirmed{session.node});
  }
  // Before the ranks: a fault that is reported together with a failure may explain it.
  if (report.checks) {
    session.checks = *report.checks;
    session.has_new_checks = true;
  }
  if (report.hook) session.hook = report.hook;
  const UnixTime now = decision.now();
  if (session.has_new_checks &&
      session.checks_paid_until - now < kCheckChangesAtOnce * kPerCheckChange) {
    const int changes = take_checks(decision, session);
    session.has_new_checks = false;
    session.checks_paid_until =
        std::max(session.checks_paid_until, now) + changes * kPerCheckChange;
    decide_faults(decision, session.node);
  }
  session.ranks.clear();
  for (const RankStatus& status : report.ranks) session.ranks.insert_or_assign(status.key, status);
  std::erase_if(session.words,
                [&](const auto& word) { return !session.ranks.contains(word.first); });
  for (const RankStatus& status : report.ranks) take_status(decision, session, status);
  lose_missing_ranks(decision, session.node, session);
  take_facts_kept_back(decision, session);
  settle_liveness(decision, session.node, session);
}

void decide_node_down(Decision& decision, NodeId id, const std::string& reason) {
  decision.emit(NodeLivenessChanged{id, Liveness::down, reason});
  std::vector<Occupant> occupants = decision.state().find(id)->occupants;
  for (const Occupant& occupant : occupants) {
    const Attempt& attempt = *decision.state().find(occupant.job)->attempt;
    if (is_gone(attempt.ranks[occupant.rank].state)) continue;
    decision.emit(RankEnded{occupant.job, attempt.number, occupant.rank, RankState::lost,
                            ExitCause::lost, 0, "its node is down"});
    settle_attempt(decision, occupant.job);
  }
}

}  // namespace hai
