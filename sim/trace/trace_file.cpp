#include "sim/trace/trace_file.h"

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <set>

#include "sim/trace/csv_reader.h"
#include "sim/trace/seconds.h"

namespace hai {
namespace {

enum TraceColumn { kJobId, kSubmit, kGpus, kDuration, kUser, kVc };
constexpr double kGpusMax = 1'000'000;

// Users of the trace under names that the server takes.
class Users {
 public:
  int index_of(std::string_view user, std::string_view vc, std::vector<std::string>& names) {
    std::string_view raw = !user.empty() ? user : !vc.empty() ? vc : "nobody";
    auto [found, is_new] = index_.try_emplace(std::string(raw), static_cast<int>(names.size()));
    if (is_new) names.push_back(unique_name(raw));
    return found->second;
  }

 private:
  std::string unique_name(std::string_view raw) {
    constexpr size_t kNameMax = 100;
    std::string name;
    for (char c : raw.substr(0, kNameMax)) {
      bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      name += is_plain || c == '_' || c == '@' || (c == '-' && !name.empty()) ? c : '.';
    }
    std::string unique = name;
    for (int i = 2; !taken_.insert(unique).second; ++i) unique = fmt::format("{}+{}", name, i);
    return unique;
  }

  std::map<std::string, int> index_;
  std::set<std::string> taken_{std::string(kTraceAdmin)};
};

}  // namespace

JobShape shape_of(double gpus, int gpus_of_node) {
  int whole = static_cast<int>(std::ceil(gpus));
  for (int share : {1, 2, 4}) {
    if (whole <= share && share < gpus_of_node) return {1, share};
  }
  return {(whole + gpus_of_node - 1) / gpus_of_node, 0};
}

Result<Trace> read_trace(const std::string& path, const TraceChoice& choice,
                         const TraceCluster& cluster) {
  auto opened = CsvReader::open(
      path, {{"job_id", "submit_s", "gpus", "duration_s"},
             {"user", "vc", "nodes_hint", "status", "priority_hint", "failure_hint"}});
  if (!opened.is_ok()) return opened.status();
  CsvReader& reader = *opened.value();
  Trace trace;
  Users users;
  double from = choice.from_day * 86'400;
  double until = choice.days > 0 ? from + choice.days * 86'400 : kSecondsMax + 1;
  double last_submit = 0;
  while (reader.next()) {
    if (reader.field(kJobId).empty()) return reader.error("job_id: must not be empty");
    auto submit = reader.number(kSubmit, 0, kSecondsMax);
    if (!submit.is_ok()) return submit.status();
    if (submit.value() < last_submit) {
      return reader.error(
          fmt::format("submit_s: {} is before the line above's {}; sort by submit_s",
                      submit.value(), last_submit));
    }
    last_submit = submit.value();
    auto gpus = reader.number(kGpus, 0, kGpusMax);
    if (!gpus.is_ok()) return gpus.status();
    if (gpus.value() <= 0) return reader.error("gpus: must be more than 0, is 0");
    bool is_known = !reader.field(kDuration).empty();
    auto duration = is_known ? reader.number(kDuration, 0, kSecondsMax) : Result<double>(0.0);
    if (!duration.is_ok()) return duration.status();
    bool is_chosen = submit.value() >= from && submit.value() < until;
    if (!is_chosen || (choice.limit > 0 && std::ssize(trace.jobs) >= choice.limit)) continue;
    JobShape shape = shape_of(gpus.value(), cluster.gpus_per_node);
    if (!is_known) {
      ++trace.unknown_duration;
    } else if (shape.nodes > cluster.most_nodes_together) {
      ++trace.too_large;
    } else {
      trace.jobs.push_back(
          {.submit = of_seconds((submit.value() - from) / choice.load),
           .work = of_seconds(std::max(duration.value(), 1.0)),
           .nodes = shape.nodes,
           .gpus_per_node = shape.gpus_per_node,
           .user = users.index_of(reader.field(kUser), reader.field(kVc), trace.users)});
    }
  }
  RETURN_IF_ERROR(reader.status());
  if (trace.jobs.empty())
    return invalid_argument("{}: no job to replay in it, or in the chosen days", path);
  return trace;
}

}  // namespace hai
