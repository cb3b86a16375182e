#include "server/control/health/decide_hang.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "common/hang_signs.h"
#include "server/control/attempt/attempt_flow.h"
#include "server/control/attempt/attribution.h"
#include "server/control/health/decide_bisect.h"
#include "server/model/lemon_score.h"

namespace hai {
namespace {

struct Silence {
  std::set<HangSource> sources;  // of all ranks together
  UnixTime since{};              // the last of the ranks to fall silent
  std::vector<RankLastSeen> ranks;
};

bool is_of_words(const RankSign& sign) { return source_of(sign.kind) == HangSource::words; }

// nullopt as long as one rank says something, or has not been heard of.
std::optional<Silence> silence_of(const Sessions& sessions, const Job& job) {
  Silence silence;
  const Attempt& attempt = *job.attempt;
  for (size_t rank = 0; rank < attempt.ranks.size(); ++rank) {
    if (is_gone(attempt.ranks[rank].state)) continue;
    const Session* session = sessions.find(attempt.ranks[rank].place.node);
    if (session == nullptr) return std::nullopt;
    const auto status = session->ranks.find({job.id, attempt.number, static_cast<int>(rank)});
    if (status == session->ranks.end()) return std::nullopt;
    const std::vector<RankSign>& signs = status->second.signs;
    const auto words = std::ranges::find_if(signs, is_of_words);
    if (words == signs.end()) return std::nullopt;
    silence.since = std::max(silence.since, words->since);
    for (const RankSign& sign : signs) silence.sources.insert(source_of(sign.kind));
    silence.ranks.push_back({static_cast<int>(rank), status->second.progress_step,
                             status->second.word_at, status->second.gpu_percent});
  }
  return silence;
}

std::string signs_text(const Sessions& sessions, const Job& job) {
  std::set<std::string_view> names;
  for (size_t rank = 0; rank < job.attempt->ranks.size(); ++rank) {
    const Session* session = sessions.find(job.attempt->ranks[rank].place.node);
    if (session == nullptr) continue;
    const auto status = session->ranks.find({job.id, job.attempt->number, static_cast<int>(rank)});
    if (status == session->ranks.end()) continue;
    for (const RankSign& sign : status->second.signs) names.insert(to_string(sign.kind));
  }
  std::string text;
  for (std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

// Where no rank stopped first it may be a node, what is between the nodes, or the program that has
// blocked itself. Whose jobs hang on purpose or by a mistake must not empty the cluster: one person
// has nodes tested once in a day, no node is tested twice in it for a hang, and no more than this
// share of the nodes are in such tests at once.
constexpr Duration kHangWindow = 24h;
constexpr size_t kHangShare = 20;    // a twentieth
constexpr size_t kHangNodesMin = 8;  // in a small cluster
constexpr size_t kHangsMax = 200;    // that are remembered

size_t may_be_tested(const ClusterState& state) {
  size_t tested = 0;
  for (const auto& [id, node] : state.nodes()) {
    tested += node.health.repair.step == RepairStep::bisecting ? 1 : 0;
  }
  const size_t most = std::max(kHangNodesMin, state.present_nodes() / kHangShare);
  return most - std::min(most, tested);
}

bool has(const std::vector<NodeId>& nodes, NodeId node) {
  return std::ranges::find(nodes, node) != nodes.end();
}

// Those where the job of somebody else hung as well.
std::vector<NodeId> nodes_of_both(const std::vector<NodeId>& nodes, const PastHang& other) {
  std::vector<NodeId> both;
  std::ranges::copy_if(nodes, std::back_inserter(both),
                       [&](NodeId node) { return has(other.nodes, node); });
  return both;
}

struct NodesToTest {
  std::vector<NodeId> nodes;
  std::string why_none;
};

NodesToTest nodes_to_test(const ClusterState& state, const std::vector<PastHang>& before,
                          const PastHang& hang) {
  std::vector<NodeId> untested = hang.nodes;
  bool is_first = true;
  for (const PastHang& past : before) {
    std::erase_if(untested, [&](NodeId node) { return has(past.tested, node); });
    is_first = is_first && (past.user != hang.user || past.tested.empty());
  }
  if (untested.size() < 2) return {{}, "they were within a day"};
  const size_t most = may_be_tested(state);
  for (const PastHang& past : before) {
    std::vector<NodeId> both = nodes_of_both(untested, past);
    if (past.user != hang.user && both.size() >= 2 && both.size() <= most) return {both, ""};
  }
  if (!is_first)
    return {{}, fmt::format("a hang of {}'s jobs had that done within a day", hang.user)};
  if (untested.size() <= most) return {std::move(untested), ""};
  return {{},
          fmt::format("they are {}, and {} may be tested for hangs now", untested.size(), most)};
}

void test_nodes(Decision& decision, Sessions& sessions, const Job& job, IncidentId incident,
                std::vector<NodeId> nodes) {
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  PastHang hang{job.user, std::move(nodes), {}, decision.now()};
  std::erase_if(sessions.hangs,
                [&](const PastHang& past) { return hang.at - past.at >= kHangWindow; });
  NodesToTest test = nodes_to_test(decision.state(), sessions.hangs, hang);
  const std::string why = fmt::format("job {} hung here, and no rank stopped first", job.id.value);
  if (!test.nodes.empty() && begin_bisection(decision, test.nodes, why)) {
    hang.tested = std::move(test.nodes);
  } else if (!test.why_none.empty() && hang.nodes.size() > 1) {
    decision.emit(
        IncidentNoted{incident, fmt::format("its nodes are not tested in groups: {}; `hai validate "
                                            "--together` does it",
                                            test.why_none)});
  }
  sessions.hangs.push_back(std::move(hang));
  if (sessions.hangs.size() > kHangsMax) sessions.hangs.erase(sessions.hangs.begin());
}

void end_as_hung(Decision& decision, Sessions& sessions, JobId id, const Silence& silence) {
  const Job& job = *decision.state().find(id);
  const Attempt& attempt = *job.attempt;
  std::optional<HangSuspect> suspect = find_hang_suspect(silence.ranks);
  if (attempt.ranks.size() == 1) suspect = HangSuspect{0, "it is the only one"};
  std::vector<NodeId> suspects;
  std::string whose = "no rank stopped noticeably before the others";
  if (suspect) {
    const NodeId node = attempt.ranks[static_cast<size_t>(suspect->rank)].place.node;
    suspects.push_back(node);
    whose = fmt::format("rank {} on {} stopped first ({})", suspect->rank,
                        decision.state().find(node)->facts.name, suspect->why);
  }
  const std::string reason =
      fmt::format("hangs since {}: {} for {}; {}", format_rfc3339(silence.since),
                  signs_text(sessions, job), format_duration(job.spec->watchdog), whose);
  const IncidentId incident{decision.state().last_incident().value + 1};
  decision.emit(IncidentOpened{incident, std::string(kHang), fmt::format("job/{}", id.value),
                               fmt::format("job {} ({}) {}", id.value, job.spec->name, reason),
                               suspects});
  for (NodeId node : suspects) {
    mark_by_job(decision, node,
                attempt.ranks.size() > 1 ? MarkKind::gang_failed : MarkKind::job_failed, "hang",
                job);
  }
  std::vector<NodeId> nodes;
  for (const Rank& rank : attempt.ranks) nodes.push_back(rank.place.node);
  end_attempt(decision, id, {AttemptState::failed, 0, reason, true, suspects, true});
  if (suspects.empty()) test_nodes(decision, sessions, *decision.state().find(id), incident, nodes);
}

void close_ended(Decision& decision) {
  std::vector<std::pair<IncidentId, std::string>> over;
  for (const auto& [id, incident] : decision.state().incidents()) {
    if (incident.kind != kHang) continue;
    const JobId job_id{std::stoll(incident.subject.substr(incident.subject.find('/') + 1))};
    const Job* job = decision.state().find(job_id);
    if (job != nullptr && job->has_live_attempt() && job->attempt->end) continue;
    over.emplace_back(id, job == nullptr || job->is_terminal()
                              ? "the job has ended"
                              : "its ranks are gone, and it runs again elsewhere");
  }
  for (const auto& [id, reason] : over) decision.emit(IncidentClosed{id, reason});
}

}  // namespace

void decide_hangs(Decision& decision, Sessions& sessions) {
  close_ended(decision);
  const std::vector<JobId> live(decision.state().live().begin(), decision.state().live().end());
  for (JobId id : live) {
    const Job& job = *decision.state().find(id);
    const Attempt& attempt = *job.attempt;
    if (!attempt.running_at || attempt.end || attempt.state != AttemptState::running) continue;
    if (job.spec->watchdog == Duration(0)) continue;
    const std::optional<Silence> silence = silence_of(sessions, job);
    if (!silence || silence->ranks.empty() || silence->sources.size() < 2) continue;
    end_as_hung(decision, sessions, id, *silence);
  }
}

}  // namespace hai
