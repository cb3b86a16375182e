#pragma once
// How the ranks of running attempts use their GPUs and how far they have come, over time: a few
// points of each attempt, thinned out as it grows, since agents' reports are kept nowhere else.
// Soft: a new leader begins anew. On the loop's thread.

#include <cstdint>
#include <list>
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
  std::vector<int8_t> gpu_percent;         // mean of its GPUs; -1 = not known
  std::vector<int64_t> steps;              // -1 = none reported
  std::vector<int8_t> gpu_memory_percent;  // of all its GPUs' memory; -1 = not known
};

struct MetricLine {
  std::vector<UnixTime> at;
  std::vector<double> values;
};

struct UsageLines {
  int attempt = 0;            // 0 = nothing is known
  std::vector<int> attempts;  // of which something is known, oldest first
  std::vector<UnixTime> at;
  std::vector<RankLine> ranks;
  int metrics_rank = -1;  // the lowest one that reports any; one rank speaks for all
  std::map<std::string, MetricLine> metrics;
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
  static constexpr size_t kLinesMax = 20'000;      // of attempts; the same
  static constexpr int kRanksAtOnce = 2'500;       // a longer look would hold up the loop
  static constexpr size_t kLinesAtOnce = 1'000;    // that are asked whether their job is there

  // The limits are those of tests.
  explicit UsageBoard(size_t values_max = kValuesMax, size_t lines_max = kLinesMax)
      : values_max_(values_max), lines_max_(lines_max) {}

  // A point of each running attempt; of very many ranks, of the next ones. Forgets, some at a time,
  // what is of jobs that `state` does not have any more.
  void note(UnixTime now, const ClusterState& state, const Sessions& sessions);
  // `attempt` 0 = the latest known.
  UsageLines usage(JobId job, int attempt) const;
  // Of another term: its attempts are none of this one.
  void forget();
  size_t values() const { return values_; }
  size_t lines() const { return lines_.size(); }
  // What the last note() cost: of how many lines it did anything.
  size_t lines_touched() const { return lines_touched_; }

 private:
  using Key = std::pair<JobId, int>;
  struct Line {
    std::vector<UnixTime> at;
    std::vector<RankLine> ranks;
    int metrics_rank = -1;
    std::map<std::string, MetricLine> metrics;
    size_t values = 0;
    int every = 1;  // of the looks, how many make a point
    int skipped = 0;
    std::list<Key>::iterator seen;  // in by_seen_
  };
  using Lines = std::map<Key, Line>;
  Line& line_of(const Job& job);
  static void add_metrics(Line& line, UnixTime now, const RankStatus& status);
  static size_t count_values(const Line& line);
  void add(Line& line, UnixTime now, const Job& job, const ClusterState& state,
           const Sessions& sessions);
  void drop_gone(const ClusterState& state);
  void make_room();
  Lines::iterator drop(Lines::iterator line);

  const size_t values_max_;
  const size_t lines_max_;
  Lines lines_;
  std::list<Key> by_seen_;  // of lines_, the longest unseen first
  size_t values_ = 0;
  size_t lines_touched_ = 0;
  JobId looked_to_;
  Key checked_to_;  // by drop_gone()
};

// Ranks that are behind the others in steps, or whose GPUs are far less busy, worst first.
std::vector<StragglingRank> find_stragglers(const std::vector<RankLine>& ranks);
// For one step, by the rank that has come furthest; nullopt if it has not moved.
std::optional<double> seconds_per_step(const UsageLines& usage);

}  // namespace hai
