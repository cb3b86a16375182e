#include "server/store/verify.h"

#include <map>

#include "server/store/history_queries.h"
#include "server/store/pg_load.h"

namespace hai {
namespace {

class Comparison {
 public:
  explicit Comparison(LedgerReport& report) : report_(report) {}

  void differ(std::string sentence) {
    if (report_.differences.size() < kLedgerDifferencesMax) {
      report_.differences.push_back(std::move(sentence));
    }
  }

  // Both by key; `what` names the kind of row.
  template <typename Key, typename Value>
  void compare(const char* what, const std::map<Key, Value>& replayed,
               const std::map<Key, Value>& rows) {
    for (const auto& [key, value] : replayed) {
      const auto found = rows.find(key);
      if (found == rows.end()) {
        differ(fmt::format("{} {}: in the log, but there is no row", what, words(key)));
      } else if (!(found->second == value)) {
        differ(fmt::format("{} {}: the row differs from the log", what, words(key)));
      }
    }
    for (const auto& [key, value] : rows) {
      if (!replayed.contains(key)) {
        differ(fmt::format("{} {}: a row, but not in the log", what, words(key)));
      }
    }
  }

 private:
  template <typename Tag>
  static std::string words(Id<Tag> id) {
    return std::to_string(id.value);
  }
  static std::string words(const std::string& text) { return text; }
  static std::string words(const std::pair<JobId, int>& attempt) {
    return fmt::format("{}.{}", attempt.first.value, attempt.second);
  }
  static std::string words(const ClusterState::QuotaKey& key) {
    const auto& [owner, group, priority] = key;
    return fmt::format("{} in {}/{}", owner, group, to_string(priority));
  }

  LedgerReport& report_;
};

using AttemptKey = std::pair<JobId, int>;

// `earlier` gets the attempts that others have followed: the state keeps only the latest.
Result<ClusterState> replay(PgSession& session, LedgerReport& report,
                            std::map<AttemptKey, Attempt>& earlier) {
  ClusterState state;
  while (true) {
    Result<std::vector<Event>> page =
        find_events(session, {.after_seq = state.last_seq(), .limit = kHistoryPageMax});
    if (!page.is_ok()) return page.status();
    for (const Event& event : page.value()) {
      if (event.seq != state.last_seq() + 1) {
        return Status(Code::data_loss,
                      fmt::format("the event log has {} after {}", event.seq, state.last_seq()));
      }
      state.apply(event);
      ++report.events;
    }
    for (ReplacedAttempt& replaced : state.take_touched().replaced_attempts) {
      earlier.emplace(AttemptKey{replaced.job, replaced.attempt.number},
                      std::move(replaced.attempt));
    }
    if (page.value().size() < static_cast<size_t>(kHistoryPageMax)) return state;
  }
}

std::map<AttemptKey, Attempt> earlier_attempts(PgSession& session, const std::vector<Job>& jobs) {
  std::map<AttemptKey, Attempt> earlier;
  for (const Job& job : jobs) {
    if (job.attempt_number() < 2) continue;
    for (Attempt& attempt : find_attempts_in(session, job.id)) {
      if (attempt.number == job.attempt_number()) continue;
      earlier.emplace(AttemptKey{job.id, attempt.number}, std::move(attempt));
    }
  }
  return earlier;
}

void compare(const ClusterState& replayed, StoredState stored, LedgerReport& report) {
  Comparison comparison(report);
  report.jobs = static_cast<int64_t>(stored.jobs.size());
  if (stored.epoch != replayed.epoch()) {
    comparison.differ(fmt::format("epoch {} in the log, {} in the row", replayed.epoch().value,
                                  stored.epoch.value));
  }
  if (stored.last_seq != replayed.last_seq()) {
    comparison.differ(
        fmt::format("the log ends at {}, the row says {}", replayed.last_seq(), stored.last_seq));
  }
  // Who occupies a node follows from the jobs; building a state from the rows derives it.
  const ClusterState rows(std::move(stored));
  comparison.compare("job", replayed.jobs(), rows.jobs());
  comparison.compare("node", replayed.nodes(), rows.nodes());
  comparison.compare("user", replayed.users(), rows.users());
  comparison.compare("quota of", replayed.quotas(), rows.quotas());
  comparison.compare("token", replayed.tokens(), rows.tokens());
}

}  // namespace

Result<LedgerReport> verify_ledger(const std::string& conninfo) {
  PgSession session({.conninfo = conninfo, .statement_timeout = 1min});
  try {
    LedgerReport report;
    PgSnapshot snapshot(session);
    std::map<AttemptKey, Attempt> earlier;
    Result<ClusterState> replayed = replay(session, report, earlier);
    if (!replayed.is_ok()) return replayed.status();
    StoredState stored = load_state_in(session);
    for (Job& finished :
         load_jobs(session, {JobState::succeeded, JobState::failed, JobState::stopped})) {
      stored.jobs.push_back(std::move(finished));
    }
    const std::map<AttemptKey, Attempt> attempt_rows = earlier_attempts(session, stored.jobs);
    snapshot.end();
    Comparison(report).compare("attempt", earlier, attempt_rows);
    compare(replayed.value(), std::move(stored), report);
    return report;
  } catch (const PgError& error) {
    return unavailable("postgres: {}", error.what());
  }
}

}  // namespace hai
