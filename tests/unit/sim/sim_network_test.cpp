// What the network of the simulator knows of itself, which checkers hold the servers to.

#include "sim/sim_network.h"

#include <gtest/gtest.h>

namespace hai::test {
namespace {

using Cut = SimNetwork::Cut;

// A checker that looks once a second does not see a node that is heard in between (sim seed
// 1324447390: two that were, and no incident was open of a loss they had not).
TEST(SimNetwork, KnowsSinceWhenANodeIsUnheard) {
  Timeline timeline;
  Dice dice;
  SimNetwork network(timeline, dice, 1);
  const auto at = [&](Duration time) { timeline.run_until(MonoTime{} + time); };
  const auto since = [&] { return network.unheard_since("node-1"); };
  EXPECT_FALSE(since());
  at(1s);
  network.cut("node-1", Cut::to_agent);
  EXPECT_FALSE(since()) << "it is heard, though it hears nothing";
  at(2s);
  network.cut("node-1", Cut::both);
  at(3s);
  network.cut("node-1", Cut::to_server, network.new_island());
  EXPECT_EQ(since(), MonoTime{} + 2s) << "another cut, and not heard in between";
  at(4s);
  network.heal("node-1");
  EXPECT_FALSE(since());
  at(4'300ms);
  network.cut("node-1", Cut::both);
  EXPECT_EQ(since(), MonoTime{} + 4'300ms);
}

}  // namespace
}  // namespace hai::test
