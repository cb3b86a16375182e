#include "common/log_store/keeper.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "common/log_store/layout.h"
#include "common/log_store/rank_record.h"

namespace hai {

namespace {

using IsLive = std::function<bool(const RankKey&)>;

// Empty if there is no such folder any more; what cannot be looked at is left out.
std::vector<std::string> names_in(const Folder& folder) {
  Result<std::vector<std::string>> names = folder.list();
  return names.is_ok() ? std::move(names).value() : std::vector<std::string>();
}

StoredLog measure(const Folder& folder, const RankKey& key) {
  StoredLog log{.key = key, .user = {}};
  for (const std::string& name : names_in(folder)) {
    const Result<FileFacts> facts = folder.facts(name);
    if (!facts.is_ok()) continue;
    log.bytes += facts.value().bytes;
    log.written_at = std::max(log.written_at, facts.value().changed_at);
  }
  // It may have been made a moment ago for a log whose first bytes are on their way.
  if (log.written_at == UnixTime{}) log.written_at = folder.changed_at();
  const Result<std::string> text = folder.read(kRankRecord, kRankRecordBytesMax);
  const Result<RankRecord> record =
      text.is_ok() ? rank_record_from_json(text.value()) : text.status();
  if (record.is_ok()) log.user = record.value().user;
  return log;
}

void list_job(const Folder& folder, JobId job, const IsLive& is_live,
              std::vector<StoredLog>& logs) {
  for (const std::string& name : names_in(folder)) {
    const std::optional<RankKey> key = parse_rank_folder(job, name);
    if (!key) continue;
    // Asked before it is measured: one that ends meanwhile is looked at the next time.
    const bool lives = is_live(*key);
    const Result<Folder> rank = folder.open(name);
    if (!rank.is_ok()) continue;
    logs.push_back(measure(rank.value(), *key));
    logs.back().is_live = lives;
  }
}

}  // namespace

std::vector<StoredLog> logs_to_delete(std::vector<StoredLog> logs, const LogKeepRules& rules,
                                      UnixTime now) {
  std::ranges::sort(logs, {},
                    [](const StoredLog& log) { return std::tuple(log.written_at, log.key); });
  std::map<std::string, int64_t> bytes_of;
  for (const StoredLog& log : logs) bytes_of[log.user] += log.bytes;
  std::vector<StoredLog> chosen;
  for (const StoredLog& log : logs) {
    // What was written after it was said who is live may be of one who began since.
    if (log.is_live || log.written_at > now) continue;
    int64_t& bytes = bytes_of[log.user];
    if (log.written_at + rules.keep > now && bytes <= rules.user_bytes) continue;
    bytes -= log.bytes;
    chosen.push_back(log);
  }
  return chosen;
}

Result<std::vector<StoredLog>> list_logs(const LogStore& store, const IsLive& is_live) {
  const FileUser user = store.use();
  const Result<std::vector<std::string>> thousands = store.root().list();
  if (!thousands.is_ok()) return thousands.status();
  std::vector<StoredLog> logs;
  for (const std::string& name : thousands.value()) {
    if (!parse_thousand_folder(name)) continue;
    const Result<Folder> thousand = store.root().open(name);
    if (!thousand.is_ok()) continue;
    for (const std::string& job_name : names_in(thousand.value())) {
      const std::optional<JobId> job = parse_job_folder(job_name);
      if (!job || thousand_folder(*job) != name) continue;
      const Result<Folder> folder = thousand.value().open(job_name);
      if (folder.is_ok()) list_job(folder.value(), *job, is_live, logs);
    }
  }
  return logs;
}

Result<SweepResult> sweep_logs(const LogStore& store, const LogKeepRules& rules, UnixTime now,
                               const IsLive& is_live) {
  Result<std::vector<StoredLog>> logs = list_logs(store, is_live);
  if (!logs.is_ok()) return logs.status();
  SweepResult result;
  for (const StoredLog& log : logs.value()) {
    ++result.logs;
    result.bytes += log.bytes;
  }
  const FileUser user = store.use();
  for (const StoredLog& log : logs_to_delete(std::move(logs).value(), rules, now)) {
    const Status removed = store.remove_rank(log.key);
    if (!removed.is_ok() && removed.code() != Code::not_found) return removed;
    --result.logs;
    result.bytes -= log.bytes;
    ++result.logs_deleted;
    result.bytes_deleted += log.bytes;
  }
  return result;
}

}  // namespace hai
