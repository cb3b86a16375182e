#include "server/model/lemon_score.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace hai {
namespace {

int weight_of(const NodeMark& mark) {
  if (is_made_by_jobs(mark.about)) return 0;
  switch (mark.kind) {
    case MarkKind::evict:
    case MarkKind::drain:
    case MarkKind::validation_failed:
      return 3;
    case MarkKind::gang_failed:
      return 2;
    case MarkKind::validate:
    case MarkKind::job_failed:
      return 1;
    case MarkKind::flash_cut:
    case MarkKind::app_fault:
    case MarkKind::launch_failed:
    case MarkKind::accepted:
      return 0;
  }
  return 0;
}

}  // namespace

LemonScore lemon_score(const NodeHealth& health, UnixTime now, int person_max) {
  LemonScore result;
  std::map<std::string_view, int> of_people;  // what the jobs of each say
  std::map<std::string_view, int> counts;     // by its word
  for (const NodeMark& mark : health.marks) {
    if (now - mark.at > kLemonWindow) continue;
    if (mark.kind == MarkKind::accepted) result.score = 0, of_people.clear(), counts.clear();
    const int weight = weight_of(mark);
    if (weight == 0) continue;
    (mark.job ? of_people[mark.user] : result.score) += weight;
    ++counts[to_string(mark.kind)];
  }
  for (const auto& [person, points] : of_people) result.score += std::min(points, person_max);
  for (const auto& [word, count] : counts) {
    result.explanation +=
        fmt::format("{}{} {}", result.explanation.empty() ? "" : ", ", count, word);
  }
  if (!counts.empty()) result.explanation += " in 28 days";
  return result;
}

}  // namespace hai
