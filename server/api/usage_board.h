#pragma once
// How the ranks of running attempts use their GPUs and how far they have come, over time: a few
// points of each attempt, thinned out as it grows, since agents' reports are kept nowhere else.
// Soft: a new leader begins anew. On the loop's thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/id.h"
#include "common/time.h"
#include "server/control/sessions.h"
#include "server/model/cluster_state.h"

namespace hai {

struct RankLine {
  int rank = 0;
  std::string node;
  // One per time of its attempt.
  std::vector<int8_t> gpu_percent;  // mean of its GPUs; -1 = not known
  std::vector<int64_t> steps;       // -1 = none reported
};

struct UsageLines {
  int attempt = 0;            // 0 = nothing is known
  std::vector<int> attempts;  // of which something is known, oldest first
  std::vector<UnixTime> at;
  std::vector<RankLine> ranks;
};

struct StragglingRank {
  int rank = 0;
  std::string node;
  std::string text;
  bool operator==(const StragglingRank&) const = default;
};

class UsageBoard {
 public:
  static constexpr size_t kPointsMax = 60;         // of one attempt
  static constexpr size_t kValuesMax = 2'000'000;  // of all; then the oldest attempts go
  static constexpr int kRanksAtOnce = 2'500;       // a longer look would hold up the loop

  // A point of each running attempt; of very many ranks, of the next ones.
  void note(UnixTime now, const ClusterState& state, const Sessions& sessions);
  // `attempt` 0 = the latest known.
  UsageLines usage(JobId job, int attempt) const;
  size_t values() const { return values_; }

 private:
  using Key = std::pair<JobId, int>;
  struct Line {
    std::vector<UnixTime> at;
    std::vector<RankLine> ranks;
    int every = 1;  // of the looks, how many make a point
    int skipped = 0;
    UnixTime seen{};
  };
  void add(Line& line, UnixTime now, const Job& job, const ClusterState& state,
           const Sessions& sessions);
  void make_room();

  std::map<Key, Line> lines_;
  size_t values_ = 0;
  JobId looked_to_;
};

// Ranks that are behind the others in steps, or whose GPUs are far less busy, worst first.
std::vector<StragglingRank> find_stragglers(const std::vector<RankLine>& ranks);
// For one step, by the rank that has come furthest; nullopt if it has not moved.
std::optional<double> seconds_per_step(const UsageLines& usage);

}  // namespace hai
