#include "server/store/sample_queries.h"

#include <fmt/core.h>

#include <charconv>

namespace hai {

namespace {

// "avg(gpus_total), avg(gpus_used), …"
std::string columns(std::string_view before, std::string_view after) {
  std::string text;
  for (std::string_view word : kSampleWords) {
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", before, word, after);
  }
  return text;
}

double number_of(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

void save_sample(PgSession& session, const ClusterSample& sample, Duration keep) {
  std::vector<std::string> params = {format_rfc3339(sample.at)};
  std::string places = "$1::timestamptz";
  for (double value : sample.values) {
    params.push_back(fmt::format("{}", value));
    places += fmt::format(", ${}::real", params.size());
  }
  static const std::string insert =
      fmt::format("INSERT INTO cluster_sample (at, {}) VALUES ({}) ON CONFLICT (at) DO NOTHING",
                  columns("", ""), places);
  session.call({"save_sample", insert.c_str()}, params);
  session.call({"drop_samples", "DELETE FROM cluster_sample WHERE at < $1::timestamptz"},
               {format_rfc3339(sample.at - keep)});
}

std::vector<ClusterSample> find_samples(PgSession& session, UnixTime since, Duration step) {
  static const std::string select = fmt::format(
      "SELECT (extract(epoch FROM date_bin($2::interval, at, 'epoch'::timestamptz)))::bigint AS "
      "bin,"
      " {} FROM cluster_sample WHERE at >= $1::timestamptz GROUP BY bin ORDER BY bin",
      columns("avg(", ")"));
  const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(step).count();
  const PgResult rows = session.call({"find_samples", select.c_str()},
                                     {format_rfc3339(since), fmt::format("{} seconds", seconds)});
  std::vector<ClusterSample> samples;
  for (int row = 0; row < rows.size(); ++row) {
    ClusterSample& sample = samples.emplace_back();
    sample.at = unix_micros(rows.integer(row, 0) * 1'000'000);
    for (size_t i = 0; i < sample.values.size(); ++i) {
      sample.values[i] = number_of(rows.text(row, static_cast<int>(i) + 1));
    }
  }
  return samples;
}

}  // namespace hai
