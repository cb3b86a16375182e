#include "server/api/event_feed.h"

#include <gtest/gtest.h>

#include "server/model/cluster_state.h"

namespace hai {
namespace {

std::vector<Event> holds(int64_t first, int count, size_t reason_bytes) {
  std::vector<Event> events;
  for (int i = 0; i < count; ++i) {
    events.push_back(
        {first + i, unix_micros(1), "ann", JobHeld{JobId{1}, std::string(reason_bytes, 'x')}});
  }
  return events;
}

TEST(EventFeed, KeepsSoManyEventsAndSoManyBytes) {
  const ClusterState state;
  EventFeed feed(10, 5'000 + 5 * sizeof(Event));
  feed.durable(holds(1, 20, 10), state);
  EXPECT_EQ(feed.before_first(), 10);
  feed.durable(holds(21, 20, 1'000), state);
  EXPECT_EQ(feed.last_seq(), 40);
  EXPECT_EQ(feed.before_first(), 35);
  EXPECT_EQ(feed.find(35), nullptr);
  ASSERT_NE(feed.find(36), nullptr);
  EXPECT_EQ(feed.find(36)->seq, 36);
  feed.durable(holds(41, 1, 9'000), state);
  EXPECT_EQ(feed.before_first(), 40) << "the newest one always";
  feed.durable(holds(42, 20, 10), state);
  EXPECT_EQ(feed.before_first(), 51);
}

// Many small ones take more than their texts.
TEST(EventFeed, CountsWhatEventsTakeBesideTheirTexts) {
  const ClusterState state;
  EventFeed feed(1'000, 20 * sizeof(Event));
  feed.durable(holds(1, 100, 0), state);
  EXPECT_GT(feed.before_first(), 79);
}

TEST(EventFeed, HasNoGapAfterAChangeOfLeader) {
  const ClusterState state;
  EventFeed feed(10, 5'000 + 5 * sizeof(Event));
  feed.durable(holds(1, 5, 900), state);
  feed.durable(holds(9, 5, 900), state);
  EXPECT_EQ(feed.before_first(), 8);
  EXPECT_EQ(feed.find(5), nullptr);
}

}  // namespace
}  // namespace hai
