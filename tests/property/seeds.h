#pragma once
// The seeds of a property test's random worlds: 1 to so many, the same each time, ending at the
// first world that fails. Two variables of the environment choose others, for all these tests:
//
//   HAI_FIRST_SEED=N   from N on; every failing seed is printed, and how many worlds there were
//   HAI_SEEDS=N        so many of them (HAI_FIRST_SEED=69 HAI_SEEDS=1: that world alone)
//
// `ninja property_campaign` (campaign.sh) runs all tests over fresh ones.

#include <cstdint>
#include <string>
#include <vector>

namespace hai::test {

// Of HAI_FIRST_SEED or 1.
uint64_t first_seed();

// for (uint64_t seed : seeds) …, with failures of the running test traced to their seeds.
class Seeds {
 public:
  explicit Seeds(uint64_t count_by_default);
  ~Seeds();
  Seeds(const Seeds&) = delete;
  Seeds& operator=(const Seeds&) = delete;

  class Iterator {
   public:
    Iterator(Seeds* seeds, uint64_t seed) : seeds_(seeds), seed_(seed) {}
    uint64_t operator*() const { return seed_; }
    Iterator& operator++() {
      seeds_->looked_at(seed_++);
      return *this;
    }
    bool operator!=(const Iterator& end) const { return seed_ != end.seed_ && !seeds_->is_over(); }

   private:
    Seeds* seeds_;
    uint64_t seed_;
  };
  Iterator begin() { return {this, first_}; }
  Iterator end() { return {this, first_ + count_}; }

  uint64_t count() const { return count_; }
  // What the worlds by default must hold more than: nothing is asked of fewer worlds than those.
  int more_than(int least) const { return count_ < default_ ? -1 : least; }

 private:
  void looked_at(uint64_t seed);
  bool is_over() const { return !is_campaign_ && !failed_.empty(); }

  const bool is_campaign_;
  const uint64_t first_;
  const uint64_t default_;
  const uint64_t count_;
  uint64_t worlds_ = 0;
  int failures_ = 0;  // that were there before
  std::vector<uint64_t> failed_;
};

}  // namespace hai::test
