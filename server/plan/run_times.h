#pragma once
// How long jobs run, learned from those that have ended: histograms of total run time by user,
// group and size, by group and size, and of all. Soft: lost with the process, warmed from the
// history. Bounded: so many histograms, so many counts in each; older ones count less.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "server/model/cluster_state.h"

namespace hai {

// Counts on a logarithmic scale: a second to a year, 19 % wide each.
class RunTimeHistogram {
 public:
  void add(Duration ran);
  // Runs longer than `ran`.
  int64_t longer_than(Duration ran) const;
  // The run time that a share `rank` (0..1) of the runs longer than `ran` does not exceed.
  Duration quantile(Duration ran, double rank) const;

 private:
  static constexpr int kBins = 100;
  static constexpr int64_t kCountMax = 4'096;  // then all are halved
  std::array<uint16_t, kBins> counts_{};
  int64_t total_ = 0;
};

class RunTimes {
 public:
  // A job that has ended after running so long in all its attempts.
  void add(const std::string& user, const std::string& group, int gpus, Duration ran);
  int64_t count() const { return count_; }

  // How much longer a job runs that has run `ran` so far: the quantile `rank`. Of jobs like it if
  // there are enough, else of more; without any as long again as it has run, the usual rule for
  // things of unknown age.
  Duration residual(const std::string& user, const std::string& group, int gpus, Duration ran,
                    double rank) const;

 private:
  using Key = std::tuple<std::string, std::string, int>;  // user ("" = any), group, size class
  static constexpr size_t kKeysMax = 4'096;
  static constexpr int64_t kEnough = 8;  // runs longer than what the job has run

  std::map<Key, RunTimeHistogram> histograms_;
  RunTimeHistogram all_;
  int64_t count_ = 0;
};

// GPUs of a job, as asked.
int gpus_asked(const ClusterState& state, const Job& job);

}  // namespace hai
