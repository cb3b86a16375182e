#include "server/control/health/decide_hang.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "common/hang_signs.h"
#include "server/control/attempt/attempt_flow.h"
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

void end_as_hung(Decision& decision, const Sessions& sessions, JobId id, const Silence& silence) {
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
    decision.emit(
        NodeMarked{node, attempt.ranks.size() > 1 ? MarkKind::gang_failed : MarkKind::job_failed,
                   "hang", id, job.user});
  }
  std::vector<NodeId> nodes;
  for (const Rank& rank : attempt.ranks) nodes.push_back(rank.place.node);
  end_attempt(decision, id, {AttemptState::failed, 0, reason, true, suspects, true});
  if (suspects.empty()) {
    begin_bisection(decision, nodes,
                    fmt::format("job {} hung here, and no rank stopped first", id.value));
  }
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

void decide_hangs(Decision& decision, const Sessions& sessions) {
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
