#pragma once
// What the events say, as counters and histograms for monitoring: nothing is kept per job but for
// those that are being suspended. Counts from when this server began to lead. On the loop's thread.

#include <array>
#include <map>
#include <string>
#include <vector>

#include "server/model/cluster_state.h"

namespace hai {

// Counts of values up to each bound, and of all; bounds in seconds, growing.
class SecondsHistogram {
 public:
  explicit SecondsHistogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
  SecondsHistogram(std::vector<double> bounds, std::vector<int64_t> counts, double sum)
      : bounds_(std::move(bounds)), counts_(std::move(counts)), sum_(sum) {}
  void add(double seconds);
  const std::vector<double>& bounds() const { return bounds_; }
  const std::vector<int64_t>& counts() const { return counts_; }  // the last has no bound
  double sum() const { return sum_; }

 private:
  std::vector<double> bounds_;
  std::vector<int64_t> counts_;
  double sum_ = 0;
};

class EventMeter {
 public:
  using Counters = std::map<std::string, int64_t>;  // by the word of their label

  void count(const std::vector<Event>& events, const ClusterState& state);

  Counters decisions;         // by kind
  Counters preemptions;       // by why an attempt was asked to leave
  Counters requeues;          // by cause
  Counters finished;          // jobs by final state
  Counters lost_gpu_seconds;  // by outcome of the attempt that lost them
  Counters check_failures;    // by name of the check
  int64_t submitted = 0;
  int64_t gpu_seconds = 0;                        // of attempts that ended
  std::map<std::string, SecondsHistogram> waits;  // by size of the job
  SecondsHistogram suspends{{1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3'600}};

 private:
  struct Counting;
  std::map<JobId, UnixTime> suspending_;
};

// "1", "2-8", "9-64", "65+": nodes.
std::string size_class(int nodes);

}  // namespace hai
