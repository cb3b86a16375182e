#include "server/store/verify.h"

#include <map>

#include "server/model/fits.h"
#include "server/model/state_digest.h"
#include "server/store/archive_files.h"
#include "server/store/audit_check.h"
#include "server/store/pg_event_log.h"
#include "server/store/pg_load.h"
#include "server/store/verify_jobs.h"

namespace hai {
namespace {

// Names of rows in differences.
template <typename Tag>
std::string words(Id<Tag> id) {
  return std::to_string(id.value);
}
std::string words(const std::string& text) { return text; }
std::string words(const ClusterState::QuotaKey& key) {
  const auto& [owner, group, priority] = key;
  return fmt::format("{} in {}/{}", owner, group, to_string(priority));
}
std::string words(const ClusterState::SecretKey& key) { return key.first + "/" + key.second; }

Node without_jobs(Node node) {
  node.occupants.clear();
  node.held.clear();
  return node;
}
template <typename Value>
const Value& without_jobs(const Value& value) {
  return value;
}

template <typename Key, typename Value>
void compare(LedgerReport& report, const char* what, const std::map<Key, Value>& replayed,
             const std::map<Key, Value>& rows, int64_t& count) {
  count = std::ssize(replayed);
  for (const auto& [key, value] : replayed) {
    const auto found = rows.find(key);
    if (found == rows.end()) {
      report.differ(fmt::format("{} {}: in the log, but there is no row", what, words(key)));
    } else if (!(without_jobs(value) == found->second)) {
      report.differ(fmt::format("{} {}: the row differs from the log", what, words(key)));
    }
  }
  for (const auto& [key, value] : rows) {
    if (!replayed.contains(key)) {
      report.differ(fmt::format("{} {}: a row, but not in the log", what, words(key)));
    }
  }
}

template <typename Value, typename KeyOf>
auto by_key(const std::vector<Value>& values, KeyOf key_of) {
  std::map<std::decay_t<decltype(std::invoke(key_of, values.front()))>, Value> map;
  for (const Value& value : values) map.emplace(std::invoke(key_of, value), value);
  return map;
}

// So long after its end a job may be opened again, because its node was to blame: longer than the
// knob attribution_after can say.
constexpr Duration kOpenedAgainWithin = 2h;

class Verifier {
 public:
  Verifier(PgSession& session, const VerifyOptions& options)
      : session_(session), options_(options), jobs_(session, archived_, report_) {}

  Result<LedgerReport> run() {
    PgSnapshot snapshot(session_);
    const EventRange range = event_range(session_);
    RETURN_IF_ERROR(replay_archive(range.first));
    if (range.first > state_.last_seq() + 1) return missing_beginning(range.first);
    PgEventLog log(session_, state_.last_seq(), range.last);
    RETURN_IF_ERROR(replay(log, range.last));
    compare_tables();
    for (const auto& [id, job] : state_.jobs()) jobs_.add(job);
    jobs_.finish(state_.last_job());
    check_audit(session_, options_.archive_dir, report_);
    compare_live();
    snapshot.end();
    report_.last_seq = state_.last_seq();
    report_.digest = digest_text(state_digest(state_));
    return std::move(report_);
  }

 private:
  Status missing_beginning(int64_t first) const {
    if (options_.archive_dir.empty()) {
      return failed_precondition(
          "the event log begins at {}: name the folder of its archive with --archive", first);
    }
    return Status(Code::data_loss, fmt::format("{} ends at event {}, the event log begins at {}",
                                               options_.archive_dir, state_.last_seq(), first));
  }

  // Up to where the rows begin; what is in both was not deleted yet when the archiver stopped.
  Status replay_archive(int64_t first_row) {
    if (options_.archive_dir.empty()) return ok();
    auto files = find_archive_files(options_.archive_dir);
    if (!files.is_ok()) return files.status();
    const std::map<std::string, std::string> sums = recorded_sums();
    std::vector<std::string> paths;
    for (const ArchiveFile& file : files.value()) {
      const std::string name = file.path.substr(file.path.rfind('/') + 1);
      // Of another cluster, or of what the database has lost by being restored.
      if (!sums.contains(name)) {
        report_.foreign_files.push_back(name);
        continue;
      }
      RETURN_IF_ERROR(check_sum(file, sums.at(name)));
      if (file.has_jobs) {
        RETURN_IF_ERROR(archived_.add_file(file.path));
      } else if (file.first_seq < first_row || first_row == 0) {
        paths.push_back(file.path);
      }
    }
    archived_.sort();
    FileEventLog log(std::move(paths));
    RETURN_IF_ERROR(replay(log, first_row == 0 ? INT64_MAX : first_row - 1));
    report_.archived_events = report_.events;
    return ok();
  }

  // By the names of the files.
  std::map<std::string, std::string> recorded_sums() {
    PgResult rows = session_.run("SELECT file, sha256 FROM archive");
    std::map<std::string, std::string> sums;
    for (int row = 0; row < rows.size(); ++row) sums.emplace(rows.text(row, 0), rows.text(row, 1));
    return sums;
  }

  static Status check_sum(const ArchiveFile& file, const std::string& sum) {
    Result<std::string> found = sha256_of_file(file.path);
    if (!found.is_ok()) return found.status();
    if (found.value() == sum) return ok();
    return Status(Code::data_loss, fmt::format("{}: its SHA-256 is {}, the database says {}",
                                               file.path, found.value(), sum));
  }

  Status replay(EventLog& log, int64_t last) {
    while (state_.last_seq() < last) {
      Result<std::vector<Event>> page = log.next_page();
      if (!page.is_ok()) return page.status();
      if (page.value().empty()) break;
      for (const Event& event : page.value()) {
        if (event.seq > last) break;
        RETURN_IF_ERROR(fits(state_, event));
        apply(event);
      }
      hand_over();
      if (options_.progress) options_.progress(state_.last_seq(), last);
    }
    return ok();
  }

  void apply(const Event& event) {
    state_.apply(event);
    ++report_.events;
    if (options_.live && event.seq == options_.live->seq) {
      digest_at_live_ = digest_text(state_digest(state_));
    }
    newest_ = event.time;
  }

  // What no later event changes leaves the state for its check.
  void hand_over() {
    size_t handed_over = 0;
    for (const auto& [ended_at, id] : state_.finished()) {
      if (ended_at >= newest_ - kOpenedAgainWithin) break;
      jobs_.add(*state_.find(id));
      ++handed_over;
    }
    state_.evict_finished(state_.finished().size() - handed_over);
    Touched touched = state_.take_touched();
    for (ReplacedAttempt& replaced : touched.replaced_attempts) jobs_.add(std::move(replaced));
    for (Incident& closed : touched.closed_incidents)
      closed_incidents_.push_back(std::move(closed));
  }

  // A line for each table; jobs have their own check.
  void compare_tables() {
    StoredState rows = load_state_in(session_);
    if (rows.epoch != state_.epoch()) {
      report_.differ(fmt::format("epoch {} in the log, {} in the row", state_.epoch().value,
                                 rows.epoch.value));
    }
    if (rows.last_seq != state_.last_seq()) {
      report_.differ(
          fmt::format("the log ends at {}, the row says {}", state_.last_seq(), rows.last_seq));
    }
    const auto quota_key = [](const Quota& q) {
      return ClusterState::QuotaKey{q.owner, q.group, q.priority};
    };
    const auto secret_key = [](const Secret& s) { return ClusterState::SecretKey{s.user, s.name}; };
    std::map<IncidentId, Incident> incidents = state_.incidents();
    for (Incident& closed : closed_incidents_) incidents.emplace(closed.id, std::move(closed));
    compare(report_, "node", state_.nodes(), by_key(rows.nodes, &Node::id), report_.nodes);
    compare(report_, "user", state_.users(), by_key(rows.users, &User::name), report_.users);
    compare(report_, "quota of", state_.quotas(), by_key(rows.quotas, quota_key), report_.quotas);
    compare(report_, "token", state_.tokens(), by_key(rows.tokens, &Token::hash), report_.tokens);
    compare(report_, "secret of", state_.secrets(), by_key(rows.secrets, secret_key),
            report_.secrets);
    compare(report_, "identity of", state_.identities(),
            by_key(rows.identities, &NodeIdentity::node), report_.identities);
    compare(report_, "knob", state_.knobs(), by_key(rows.knobs, &KnobSetting::name), report_.knobs);
    compare(report_, "incident", incidents,
            by_key(load_incidents(session_, /*only_open=*/false), &Incident::id),
            report_.incidents);
  }

  void compare_live() {
    if (!options_.live) return;
    report_.live_compared = true;
    if (digest_at_live_.empty()) {
      report_.differ(fmt::format("the server is at event {}, the log ends at {}",
                                 options_.live->seq, state_.last_seq()));
    } else if (digest_at_live_ != options_.live->digest) {
      report_.differ(
          fmt::format("the server's state after event {} has the digest {}, the log's {}",
                      options_.live->seq, options_.live->digest, digest_at_live_));
    }
  }

  PgSession& session_;
  const VerifyOptions& options_;
  LedgerReport report_;
  ArchivedJobs archived_;
  JobCheck jobs_;
  ClusterState state_;
  UnixTime newest_{};  // time of the last event
  std::vector<Incident> closed_incidents_;
  std::string digest_at_live_;
};

}  // namespace

void LedgerReport::differ(std::string sentence) {
  ++difference_count;
  if (differences.size() < kLedgerDifferencesMax) differences.push_back(std::move(sentence));
}

Result<LedgerReport> verify_ledger(const std::string& conninfo, const VerifyOptions& options) {
  PgSession session({.conninfo = conninfo, .statement_timeout = 10min, .plan_cache_mode = "auto"});
  try {
    return Verifier(session, options).run();
  } catch (const PgError& error) {
    return unavailable("postgres: {}", error.what());
  }
}

}  // namespace hai
