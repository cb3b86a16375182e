#include "server/store/hour_queries.h"

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <utility>

namespace hai {

namespace {

constexpr double kBinWidth = 1.15;  // history_wait, schemas/sql/0013_history.sql

// What is added up of the events of an hour, in the order of kHourCountWords.
constexpr std::array<const char*, kHourCountWords.size()> kSums = {
    "count(*) FILTER (WHERE kind = 'job_submitted')",
    "count(*) FILTER (WHERE kind = 'job_finished' AND body->>'state' = 'succeeded')",
    "count(*) FILTER (WHERE kind = 'job_finished' AND body->>'state' = 'failed')",
    "count(*) FILTER (WHERE kind = 'job_finished' AND body->>'state' = 'stopped')",
    "count(*) FILTER (WHERE kind = 'attempt_suspending'"
    " AND coalesce((body->>'beneficiary')::bigint, 0) > 0)",
    "count(*) FILTER (WHERE kind = 'job_requeued' AND coalesce((body->>'infrastructure')::boolean,"
    " true))",
    "count(*) FILTER (WHERE kind = 'node_liveness_changed' AND body->>'liveness' = 'down')",
    "count(*) FILTER (WHERE kind = 'node_check_changed' AND body->'check'->>'verdict' = 'fail')",
    "coalesce(sum((body->>'gpu_seconds')::bigint)"
    " FILTER (WHERE kind IN ('attempt_ended', 'rank_ended')), 0)",  // a rank that was released
    "coalesce(sum((body->>'lost_gpu_seconds')::bigint) FILTER (WHERE kind = 'attempt_ended'), 0)"};

const char* const kHourOf = "to_timestamp(floor(extract(epoch FROM {}) / 3600) * 3600)";

std::string hour_of(std::string_view time) { return fmt::format(fmt::runtime(kHourOf), time); }

template <size_t N>
std::string list(const std::array<std::string_view, N>& words, std::string_view form) {
  std::string text;
  for (std::string_view word : words) {
    text += (text.empty() ? "" : ", ") + fmt::format(fmt::runtime(form), word);
  }
  return text;
}

std::string count_events_sql() {
  std::string sums;
  for (const char* sum : kSums) sums += std::string(sums.empty() ? "" : ", ") + sum;
  return fmt::format(
             "INSERT INTO history_hour (at, {}) SELECT {} AS hour, {} FROM event"
             " WHERE seq > $1::bigint AND seq <= $2::bigint GROUP BY hour ON CONFLICT (at) DO "
             "UPDATE SET ",
             list(kHourCountWords, "{0}"), hour_of("time"), sums) +
         list(kHourCountWords, "{0} = history_hour.{0} + excluded.{0}");
}

// A wait ends when all ranks run. It began when the job says so; of a job that has waited again
// since, when the attempt before ended.
std::string count_waits_sql() {
  return fmt::format(
      "INSERT INTO history_wait (at, bin, jobs)"
      " SELECT hour, CASE WHEN seconds < 1 THEN 0"
      " ELSE 1 + least(200, floor(ln(seconds) / ln({})))::int END AS bin, count(*)"
      " FROM (SELECT {} AS hour, extract(epoch FROM e.time - CASE"
      " WHEN (j.rest->>'waiting_since')::timestamptz <= e.time"
      " THEN (j.rest->>'waiting_since')::timestamptz"
      " ELSE least(e.time, coalesce(b.ended_at, j.submitted_at)) END)::float8 AS seconds"
      " FROM event e JOIN job j ON j.id = (e.body->>'job')::bigint"
      " LEFT JOIN attempt b ON b.job = j.id AND b.number = (e.body->>'attempt')::integer - 1"
      " WHERE e.seq > $1::bigint AND e.seq <= $2::bigint AND e.kind = 'attempt_running') AS waits"
      " GROUP BY hour, bin"
      " ON CONFLICT (at, bin) DO UPDATE SET jobs = history_wait.jobs + excluded.jobs",
      kBinWidth, hour_of("e.time"));
}

// The minutes of the last hour that has some, and of all after it, anew.
std::string sum_samples_sql() {
  const auto minutes = [](std::string_view word) {
    return fmt::format("(sum(gpus_{}::float8) * 60)::bigint", word.substr(0, word.find('_')));
  };
  std::string sums;
  for (std::string_view word : kHourGpuWords) sums += ", " + minutes(word);
  return fmt::format(
             "INSERT INTO history_hour (at, minutes, {}) SELECT {} AS hour, count(*){}"
             " FROM cluster_sample WHERE at >= coalesce((SELECT max(at) FROM history_hour"
             " WHERE minutes > 0), '-infinity') GROUP BY hour ON CONFLICT (at) DO UPDATE SET"
             " minutes = excluded.minutes, ",
             list(kHourGpuWords, "{0}"), hour_of("at"), sums) +
         list(kHourGpuWords, "{0} = excluded.{0}") +
         " WHERE excluded.minutes >= history_hour.minutes";
}

void forget_hours(PgSession& session, Duration keep) {
  const std::vector<std::string> seconds = {
      std::to_string(std::chrono::duration_cast<std::chrono::seconds>(keep).count())};
  session.call({"forget_hours",
                "DELETE FROM history_hour WHERE at < now() - $1::bigint * interval '1 second'"},
               seconds);
  session.call({"forget_waits",
                "DELETE FROM history_wait WHERE at < now() - $1::bigint * interval '1 second'"},
               seconds);
}

// The middle of a bin, by its logarithm.
Duration middle_of(int64_t bin) {
  if (bin == 0) return 0s;
  return Duration(static_cast<int64_t>(std::pow(kBinWidth, static_cast<double>(bin) - 0.5) * 1e6));
}

using WaitBins = std::map<int64_t, int64_t>;  // jobs by bin

Duration wait_at(const WaitBins& bins, int64_t jobs, int64_t percent) {
  const int64_t wanted = (jobs * percent + 99) / 100;
  int64_t seen = 0;
  for (const auto& [bin, count] : bins) {
    seen += count;
    if (seen >= wanted) return middle_of(bin);
  }
  return 0s;
}

std::optional<UnixTime> time_of(const PgResult& result) {
  if (result.size() == 0 || result.is_null(0, 0)) return std::nullopt;
  return unix_micros(result.integer(0, 0));
}

// Steps begin with hours, days and Mondays: 1970-01-05 was one.
const char* const kStepOf =
    "(extract(epoch FROM date_bin($3::bigint * interval '1 second', at, '1970-01-05 00:00:00+00'))"
    " * 1000000)::bigint";

}  // namespace

namespace {

void begin_counting(PgSession& session) {
  session.run("BEGIN; SET LOCAL idle_in_transaction_session_timeout = '1min'");
}

// True if more are left.
bool count_next_events(PgSession& session, int events_max) {
  // Locked until the end: another server that counts waits here, and goes on from where this ends.
  const PgResult at = session.run("SELECT seq FROM history_cursor FOR UPDATE");
  const int64_t from = at.integer(0, 0);
  const PgResult end =
      session.call({"hour_events",
                    "SELECT coalesce(max(seq), $1::bigint), count(*) FROM (SELECT seq FROM event"
                    " WHERE seq > $1::bigint ORDER BY seq LIMIT $2::bigint) AS next"},
                   {std::to_string(from), std::to_string(events_max)});
  const int64_t to = end.integer(0, 0);
  if (to == from) return false;
  const std::vector<std::string> range = {std::to_string(from), std::to_string(to)};
  static const std::string events = count_events_sql();
  static const std::string waits = count_waits_sql();
  session.call({"count_hour_events", events.c_str()}, range);
  session.call({"count_hour_waits", waits.c_str()}, range);
  session.call({"move_hour_cursor",
                "UPDATE history_cursor SET seq = $2::bigint, at = (SELECT time FROM event"
                " WHERE seq = $2::bigint) WHERE seq = $1::bigint"},
               range);
  return end.integer(0, 1) == events_max;
}

}  // namespace

bool count_hours(PgSession& session, Duration keep, int events_max) {
  begin_counting(session);
  const bool is_more = count_next_events(session, events_max);
  if (!is_more) {
    static const std::string samples = sum_samples_sql();
    session.call({"sum_hour_samples", samples.c_str()});
    forget_hours(session, keep);
  }
  session.run("COMMIT");
  return is_more;
}

void count_all_events(PgSession& session) {
  for (bool is_more = true; is_more;) {
    begin_counting(session);
    is_more = count_next_events(session, kEventsCountedMax);
    session.run("COMMIT");
  }
}

HourReport find_hours(PgSession& session, UnixTime since, UnixTime until, Duration step) {
  const std::vector<std::string> range = {
      format_rfc3339(since), format_rfc3339(until),
      std::to_string(std::chrono::duration_cast<std::chrono::seconds>(step).count())};
  static const std::string sums = fmt::format(
      "SELECT {} AS step, sum(minutes)::bigint, {}, {} FROM history_hour"
      " WHERE at >= $1::timestamptz AND at < $2::timestamptz GROUP BY step ORDER BY step",
      kStepOf, list(kHourGpuWords, "sum({})::bigint"), list(kHourCountWords, "sum({})::bigint"));
  static const std::string waits = fmt::format(
      "SELECT {} AS step, bin, sum(jobs)::bigint FROM history_wait"
      " WHERE at >= $1::timestamptz AND at < $2::timestamptz GROUP BY step, bin ORDER BY step, bin",
      kStepOf);
  std::map<int64_t, std::pair<WaitBins, int64_t>> waits_of;
  const PgResult found = session.call({"find_hour_waits", waits.c_str()}, range);
  for (int row = 0; row < found.size(); ++row) {
    auto& [bins, jobs] = waits_of[found.integer(row, 0)];
    bins[found.integer(row, 1)] += found.integer(row, 2);
    jobs += found.integer(row, 2);
  }
  HourReport report;
  const PgResult rows = session.call({"find_hours", sums.c_str()}, range);
  for (int row = 0; row < rows.size(); ++row) {
    HourRow& each = report.rows.emplace_back();
    each.at = unix_micros(rows.integer(row, 0));
    constexpr int kFirst = 2;
    if (rows.integer(row, 1) > 0) {
      each.gpu_seconds.emplace();
      for (size_t i = 0; i < kHourGpuWords.size(); ++i) {
        (*each.gpu_seconds)[i] = rows.integer(row, kFirst + static_cast<int>(i));
      }
    }
    for (size_t i = 0; i < kHourCountWords.size(); ++i) {
      each.counts[i] = rows.integer(row, kFirst + static_cast<int>(kHourGpuWords.size() + i));
    }
    const auto waited = waits_of.find(rows.integer(row, 0));
    if (waited == waits_of.end()) continue;
    const auto& [bins, jobs] = waited->second;
    each.waits = jobs;
    each.wait_p50 = wait_at(bins, jobs, 50);
    each.wait_p90 = wait_at(bins, jobs, 90);
  }
  report.counted_to =
      time_of(session.run("SELECT (extract(epoch FROM at) * 1000000)::bigint FROM history_cursor"));
  report.kept_from = time_of(
      session.run("SELECT (extract(epoch FROM min(at)) * 1000000)::bigint FROM history_hour"));
  return report;
}

}  // namespace hai
