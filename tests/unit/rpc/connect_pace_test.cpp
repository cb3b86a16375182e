#include "server/rpc/connect_pace.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

using namespace std::chrono_literals;

int connects(ConnectPace& pace, const std::string& node, ConnectPace::Clock::time_point now) {
  int count = 0;
  while (pace.may_connect(node, now)) ++count;
  return count;
}

TEST(ConnectPace, ManyAtOnceAndThenOneInAWhile) {
  ConnectPace pace;
  const ConnectPace::Clock::time_point now{1h};
  EXPECT_EQ(connects(pace, "node-1", now), ConnectPace::kAtOnce);
  EXPECT_EQ(connects(pace, "node-1", now + 1s), 0);
  EXPECT_EQ(connects(pace, "node-1", now + 2s), 1);
  EXPECT_EQ(connects(pace, "node-2", now), ConnectPace::kAtOnce) << "another's do not count";
  EXPECT_EQ(connects(pace, "node-1", now + 1h), ConnectPace::kAtOnce);
}

}  // namespace
}  // namespace hai
