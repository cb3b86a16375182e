#include "common/fleet_statistics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace hai {

namespace {

// Of a normal distribution, so many median absolute deviations are one standard deviation.
constexpr double kDeviationOfMad = 1.4826;

double median_of(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (upper + *std::max_element(values.begin(), values.begin() + middle)) / 2;
}

// One value per other node, so that a node that was tested often has no more say than others. What
// is no number (a test that failed) is nobody's value.
std::vector<double> other_nodes(const FleetQuestion& question) {
  std::map<std::string_view, std::vector<double>> by_node;
  for (const FleetSample& sample : question.past) {
    if (sample.node != question.node && std::isfinite(sample.value))
      by_node[sample.node].push_back(sample.value);
  }
  std::vector<double> values;
  for (auto& [node, own] : by_node) values.push_back(median_of(std::move(own)));
  return values;
}

// The larger of the deviation and of that of the bad side alone: many metrics have their long tail
// there, and its healthy nodes are no faults.
double deviation_of(const std::vector<double>& values, double median, double sign) {
  std::vector<double> all;
  std::vector<double> bad_side;
  for (const double value : values) {
    all.push_back(std::abs(value - median));
    if (sign * (median - value) >= 0) bad_side.push_back(std::abs(value - median));
  }
  return kDeviationOfMad * std::max(median_of(std::move(all)), median_of(std::move(bad_side)));
}

std::string in_words(const FleetQuestion& question, const FleetJudgement& judgement, int alike) {
  if (judgement.verdict == FleetVerdict::too_few)
    return fmt::format("{:.4g}: too few to compare, {} other nodes", question.value,
                       judgement.nodes);
  std::string text = fmt::format("{:.4g}, median of {} other nodes {:.4g}, {} limit {:.4g}",
                                 question.value, judgement.nodes, judgement.median,
                                 question.higher_is_better ? "lower" : "upper", judgement.limit);
  if (judgement.verdict == FleetVerdict::minority)
    text += fmt::format("; {} others do no better", alike);
  return text;
}

}  // namespace

std::string_view to_string(FleetVerdict verdict) {
  switch (verdict) {
    case FleetVerdict::ok:
      return "ok";
    case FleetVerdict::too_few:
      return "too_few";
    case FleetVerdict::minority:
      return "minority";
    case FleetVerdict::worse:
      return "worse";
  }
  return "unknown";
}

FleetJudgement judge_by_fleet(const FleetQuestion& question, const FleetLimits& limits) {
  const std::vector<double> values = other_nodes(question);
  FleetJudgement judgement{.nodes = static_cast<int>(values.size())};
  if (judgement.nodes < std::max(limits.nodes_min, 1)) {
    judgement.summary = in_words(question, judgement, 0);
    return judgement;
  }
  const double sign = question.higher_is_better ? 1 : -1;
  judgement.median = median_of(values);
  judgement.deviation = deviation_of(values, judgement.median, sign);
  const double allowed = std::max(
      limits.deviations_max * (1 + limits.few_nodes_factor / judgement.nodes) * judgement.deviation,
      limits.share_min * std::abs(judgement.median));
  judgement.limit = judgement.median - sign * allowed;
  const double distance = sign * (judgement.median - question.value);
  if (judgement.deviation > 0) judgement.deviations = distance / judgement.deviation;
  // Asked this way round, a value that is no number is worse than any.
  const bool is_within = distance <= allowed;
  const double alike = limits.alike_share * std::abs(judgement.median);
  const auto no_better = std::count_if(values.begin(), values.end(), [&](double other) {
    return sign * (other - question.value) <= alike;
  });
  const bool are_many = static_cast<double>(no_better) > limits.minority_share * judgement.nodes;
  judgement.verdict = is_within  ? FleetVerdict::ok
                      : are_many ? FleetVerdict::minority
                                 : FleetVerdict::worse;
  judgement.summary = in_words(question, judgement, static_cast<int>(no_better));
  return judgement;
}

}  // namespace hai
