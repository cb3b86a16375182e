#pragma once
// A set of whole numbers that mostly follow each other, such as the tasks of an array that failed.

#include <cstdint>
#include <vector>

namespace hai {

// From `first` to `last`, both included.
struct IndexSpan {
  int first = 0;
  int last = 0;
  bool operator==(const IndexSpan&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("first", self.first);
    visit("last", self.last);
  }
};

// Increasing, and none touches the next.
using IndexSpans = std::vector<IndexSpan>;

void add(IndexSpans& spans, IndexSpan span);
void remove(IndexSpans& spans, int index);
int64_t count_of(const IndexSpans& spans);
bool contains(const IndexSpans& spans, int index);

}  // namespace hai
