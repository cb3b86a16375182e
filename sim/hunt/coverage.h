#pragma once
// What a world reached, as a fuzzer counts it: pairs of a decision point with the state it met,
// with what came before it, and with the faults around it. Each pair is a bit of a hash; how often
// it was reached counts in steps: once, a few times, often.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/decision_points.h"
#include "sim/deed.h"

namespace hai {

// Of one world, while it runs.
class Coverage {
 public:
  static constexpr size_t kSize = size_t{1} << 16;

  void see(const Moment& moment, World& world);
  void see(const Deed& deed, const World& world);
  const std::vector<uint16_t>& counts() const { return counts_; }

 private:
  void hit(uint64_t kind, uint64_t one, uint64_t two, uint64_t three);
  uint64_t state_of(int node, World& world) const;
  uint64_t faults_around(const World& world) const;

  std::vector<uint16_t> counts_ = std::vector<uint16_t>(kSize);
  std::map<int, int> last_point_;            // by node
  std::map<int64_t, uint64_t> last_of_job_;  // by job
  struct Done {
    DeedKind kind;
    MonoTime at;
  };
  std::array<Done, 2> last_deeds_{};
};

// Of all worlds of a hunt.
class Reached {
 public:
  // How much it reached that none before did, or not so often; 0 = nothing.
  int add(const Coverage& world);
  size_t pairs() const { return pairs_; }

 private:
  std::vector<uint8_t> steps_ = std::vector<uint8_t>(Coverage::kSize);
  size_t pairs_ = 0;
};

}  // namespace hai
