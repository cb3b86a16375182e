#pragma once
// How the cluster was used over the last hour, day, week and quarter: rings of samples, each
// coarser than the one before, so that it never grows. A leader fills them from the store when its
// term begins. On the loop's thread.

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "common/loop_scope.h"
#include "server/control/engine/views.h"
#include "server/control/sample_port.h"

namespace hai {

class ClusterSeries {
 public:
  static constexpr Duration kPeriod = 10s;  // between two samples
  static constexpr Duration kWindowMax = 90 * 24h;

  // A sample of now; averages go into the coarser rings, and minutes to the store.
  void add(const ClusterSample& sample);
  // Samples of the finest ring that covers the window, oldest first, and how far apart they are.
  struct Window {
    Duration step{0};
    std::vector<ClusterSample> samples;
  };
  Window window(UnixTime now, Duration length) const;

  // Minutes go there from now on; may be null. `load` fills what is empty from it.
  void set_store(SampleStore* store) { store_ = store; }
  void load(UnixTime now);

 private:
  struct Ring {
    Duration step;
    size_t size;
    std::deque<ClusterSample> samples;
    ClusterSample sum{};  // of the stretch under way
    int count = 0;
  };
  void add_to(Ring& ring, const ClusterSample& sample);
  void merge(Ring& ring, std::vector<ClusterSample> older);

  std::array<Ring, 4> rings_{Ring{kPeriod, 360}, Ring{1min, 1'440}, Ring{10min, 1'008},
                             Ring{1h, 2'160}};
  SampleStore* store_ = nullptr;
  LoopScope scope_;

 public:
};

struct ClusterSummary;
ClusterSample sample_of(const ClusterSummary& summary, UnixTime now);

}  // namespace hai
