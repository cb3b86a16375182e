#pragma once
// A row of places with a number at some of them, which finds the first place whose number does not
// exceed a limit, in logarithmic time.

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace hai {

class FirstWithin {
 public:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

  void set(size_t place, int64_t number) {
    if (place >= leaves_) grow(place + 1);
    size_t node = leaves_ + place;
    tree_[node] = number;
    while ((node /= 2) > 0) tree_[node] = std::min(tree_[2 * node], tree_[2 * node + 1]);
  }
  void clear(size_t place) { set(place, kNone); }

  // No number is kNone, so that a limit of kNone - 1 finds any.
  std::optional<size_t> find(int64_t limit) const {
    if (tree_[1] > limit) return std::nullopt;
    size_t node = 1;
    while (node < leaves_) node = tree_[2 * node] <= limit ? 2 * node : 2 * node + 1;
    return node - leaves_;
  }

 private:
  void grow(size_t places) {
    size_t old_leaves = leaves_;
    std::vector<int64_t> old(tree_.begin() + static_cast<ptrdiff_t>(old_leaves), tree_.end());
    while (leaves_ < places) leaves_ *= 2;
    tree_.assign(2 * leaves_, kNone);
    for (size_t i = 0; i < old.size(); ++i) tree_[leaves_ + i] = old[i];
    for (size_t node = leaves_ - 1; node > 0; --node)
      tree_[node] = std::min(tree_[2 * node], tree_[2 * node + 1]);
  }

  // A binary heap of minima: tree_[1] over all, leaves from leaves_ on.
  size_t leaves_ = 1;
  std::vector<int64_t> tree_ = std::vector<int64_t>(2, kNone);
};

}  // namespace hai
