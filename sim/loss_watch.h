#pragma once
// incident: nodes that cannot reach the servers, so many at once that the network is to be
// suspected, are one open incident soon after they are silent. Whether they can is the network's
// truth; asked once a second.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/world.h"

namespace hai {

class LossWatch {
 public:
  static constexpr Duration kPeriod = 1s;

  // A grant that was decided before a cut leaves after `slowest_append` at most, and starts the
  // silence anew.
  LossWatch(World& world, Duration slowest_append)
      : world_(world), slowest_append_(slowest_append) {}
  // What is wrong, if anything.
  std::optional<std::string> look();

 private:
  bool is_mass_loss(const Controller& leader) const;

  World& world_;
  const Duration slowest_append_;
  std::vector<std::optional<MonoTime>> cut_since_;  // by node
  const Controller* leader_ = nullptr;
  int64_t step_downs_ = 0;
  MonoTime leads_since_{};
  std::optional<int64_t> turns_;  // when the loss was first seen
  MonoTime seen_at_{};
};

}  // namespace hai
