#include "common/index_spans.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "common/rng.h"

namespace hai {
namespace {

TEST(IndexSpans, AreOnesThatDoNotTouch) {
  IndexSpans spans;
  add(spans, {5, 5});
  add(spans, {7, 9});
  add(spans, {1, 2});
  EXPECT_EQ(spans, (IndexSpans{{1, 2}, {5, 5}, {7, 9}}));
  add(spans, {6, 6});
  EXPECT_EQ(spans, (IndexSpans{{1, 2}, {5, 9}}));
  add(spans, {3, 20});
  EXPECT_EQ(spans, (IndexSpans{{1, 20}}));
  remove(spans, 7);
  remove(spans, 1);
  remove(spans, 20);
  remove(spans, 20);
  EXPECT_EQ(spans, (IndexSpans{{2, 6}, {8, 19}}));
}

TEST(IndexSpans, GoToTheLastNumber) {
  constexpr int kLast = std::numeric_limits<int>::max();
  IndexSpans spans;
  add(spans, {kLast, kLast});
  add(spans, {0, kLast - 1});
  EXPECT_EQ(spans, (IndexSpans{{0, kLast}}));
  EXPECT_TRUE(contains(spans, kLast));
}

TEST(IndexSpans, HoldWhatASetWouldHold) {
  Rng rng(1);
  for (int world = 0; world < 200; ++world) {
    IndexSpans spans;
    std::set<int> numbers;
    for (int step = 0; step < 60; ++step) {
      const int first = static_cast<int>(rng.between(0, 40));
      if (rng.chance(0.3)) {
        remove(spans, first);
        numbers.erase(first);
      } else {
        const int last = first + static_cast<int>(rng.between(0, 4));
        add(spans, {first, last});
        for (int i = first; i <= last; ++i) numbers.insert(i);
      }
      for (int i = 0; i <= 45; ++i) ASSERT_EQ(contains(spans, i), numbers.contains(i)) << i;
      for (size_t i = 1; i < spans.size(); ++i) {
        ASSERT_GT(spans[i].first, spans[i - 1].last + 1);
      }
      for (const IndexSpan& span : spans) ASSERT_LE(span.first, span.last);
    }
  }
}

}  // namespace
}  // namespace hai
