#pragma once
// The states that were visited, and with what budget left: a state need not be visited again with
// less. When the shortest path is looked for, nor at a greater depth.

#include <cstdint>
#include <vector>

namespace hai {

class Visited {
 public:
  explicit Visited(bool by_depth) : by_depth_(by_depth), slots_(size_t{1} << 16) {}

  // False if there is nothing new to find from there. `budget`: four bits of each kind.
  bool insert(uint64_t fingerprint, uint64_t budget, uint32_t depth) {
    if (fingerprint == 0) fingerprint = 1;
    for (size_t at = fingerprint & mask();; at = (at + 1) & mask()) {
      Slot& slot = slots_[at];
      if (slot.fingerprint == 0) {
        slot = {fingerprint, budget, depth};
        if (++count_ * 2 > slots_.size()) grow();
        return true;
      }
      if (slot.fingerprint != fingerprint) continue;
      if (covers(slot.budget, budget) && (!by_depth_ || slot.depth <= depth)) return false;
    }
  }
  // Whether insert() would say false; a depth does not count.
  bool has(uint64_t fingerprint, uint64_t budget) const {
    if (fingerprint == 0) fingerprint = 1;
    for (size_t at = fingerprint & mask(); slots_[at].fingerprint != 0; at = (at + 1) & mask()) {
      if (slots_[at].fingerprint == fingerprint && covers(slots_[at].budget, budget)) return true;
    }
    return false;
  }
  uint64_t count() const { return count_; }

 private:
  struct Slot {
    uint64_t fingerprint = 0;  // 0 = empty
    uint64_t budget = 0;
    uint32_t depth = 0;
  };
  size_t mask() const { return slots_.size() - 1; }

  // Each of the fields of four bits is at least the other's: nothing is borrowed by subtraction.
  static bool covers(uint64_t more, uint64_t less) {
    for (; less != 0; more >>= 4, less >>= 4) {
      if ((more & 15) < (less & 15)) return false;
    }
    return true;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.fingerprint == 0) continue;
      size_t at = slot.fingerprint & mask();
      while (slots_[at].fingerprint != 0) at = (at + 1) & mask();
      slots_[at] = slot;
    }
  }

  const bool by_depth_;
  std::vector<Slot> slots_;
  uint64_t count_ = 0;
};

}  // namespace hai
