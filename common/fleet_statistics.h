#pragma once
// Is a node's measured value worse than those of other nodes of its model? Pure. No fixed limits:
// what is normal is what the fleet does, as in SuperBench (Xiong et al., ATC 2024, arXiv
// 2402.06194). The distance is a modified z-score (Iglewicz and Hoaglin, "How to Detect and Handle
// Outliers", 1993): from the median, in units of the median absolute deviation, so that bad nodes
// among the past values move neither. Only the bad side counts: a fast node is no fault.

#include <span>
#include <string>
#include <string_view>

namespace hai {

struct FleetSample {
  std::string node;
  double value = 0;
};

struct FleetLimits {
  // Fewer other nodes than this say nothing.
  int nodes_min = 10;
  // So many deviations from the median are worse than chance. The book's 3.5 is for a normal
  // distribution; measured bandwidths have longer tails, and 1,250 nodes a week make many guesses.
  double deviations_max = 5;
  // A median and a deviation of few nodes are uncertain: with n nodes the limit is
  // deviations_max × (1 + this / n).
  double few_nodes_factor = 4;
  // Less than this share of the median is never worth a verdict, however alike the others are.
  double share_min = 0.03;
  // As many other nodes that do no better, or by no more than this, are a kind of their own (other
  // memory, another BIOS) rather than faults: one looks into that, but drains no node.
  double alike_share = 0.02;
  double minority_share = 0.10;
};

enum class FleetVerdict {
  ok,
  too_few,   // too few other nodes to compare with; counts as ok
  minority,  // worse, but so are many: not the node's own fault
  worse,
};
std::string_view to_string(FleetVerdict verdict);

struct FleetQuestion {
  std::string_view node;  // its own past values don't speak for it
  double value = 0;
  bool higher_is_better = true;
  // Of one metric, one test and one node model. A node may be there often: its median counts once.
  std::span<const FleetSample> past;
};

struct FleetJudgement {
  FleetVerdict verdict = FleetVerdict::too_few;
  int nodes = 0;  // compared with
  double median = 0;
  double deviation = 0;   // one, in the metric's unit
  double deviations = 0;  // from the median to the bad side; below 0 = better than the median
  double limit = 0;       // value at which the verdict turns
  std::string summary;    // one sentence with the numbers
};

FleetJudgement judge_by_fleet(const FleetQuestion& question, const FleetLimits& limits = {});

}  // namespace hai
