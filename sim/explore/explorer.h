#pragma once
// Visits every state of a model that its budget allows: depth first, going back by memory images,
// and not twice into states that look alike. Single-threaded.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/model.h"
#include "sim/explore/step.h"

namespace hai {

struct ExploreLimits {
  uint64_t states_max = 50'000'000;
  double seconds_max = 1e9;
};

struct ExploreResult {
  uint64_t states = 0;     // different ones, with what may still go wrong
  uint64_t merged = 0;     // steps that led to one of those
  uint64_t steps = 0;      // taken in all
  uint64_t doubts = 0;     // merged states whose next steps were looked at all the same
  uint64_t ends = 0;       // states in which all has ended well
  size_t depth = 0;        // of the longest path
  size_t image_bytes = 0;  // of the largest state
  double seconds = 0;
  bool is_exhausted = false;  // nothing is left to visit
  std::optional<std::string> violation;
  Path path;  // to the violation: none shorter if is_exhausted
};

class Explorer {
 public:
  explicit Explorer(Model model) : model_(std::move(model)) {}
  // `seconds`: of the machine's clock. `progress` is called every 100,000 steps.
  std::function<double()> seconds;
  std::function<void(const ExploreResult&)> progress;

  // Ends with the first violation.
  ExploreResult visit_all(const ExploreLimits& limits) const;
  // The shortest path to a violation, given one.
  ExploreResult shorten(const ExploreResult& found, const ExploreLimits& limits) const;
  // The path's story, a line each; its end is the violation.
  std::vector<std::string> tell(const Path& path) const;

 private:
  class Search;
  const Model model_;
};

}  // namespace hai
