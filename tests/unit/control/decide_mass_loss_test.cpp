// The incident of many nodes that fall silent at once: when it opens, what it says, when it ends.

#include "server/control/nodes/decide_mass_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/control/engine/decide_tick.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

class MassLoss : public ::testing::Test {
 protected:
  MassLoss() {
    sessions.set_term_start(mono);
    all_in_contact();
    pass(c.knobs.down_after);
    for (const char* name : {"node-1", "node-2", "node-3"}) away.insert(name);
    pass(2 * c.knobs.heartbeat + 4s);
  }
  void all_in_contact() {
    for (const auto& [id, node] : c.state().nodes()) {
      if (!away.contains(node.facts.name)) sessions.set_contact(id, mono);
    }
  }
  void pass(Duration time) {
    for (Duration passed{0}; passed < time; passed += 1s) {
      mono += 1s, c.advance(1s);
      all_in_contact();
      c.decide_with([&](Decision& decision) { decide_tick(decision, sessions, mono, true); });
    }
  }
  void comes_back(const std::string& name) {
    away.erase(name);
    c.emit(NodeLivenessChanged{c.node_id(name), Liveness::up, "reports again"});
  }
  const Incident* open() { return c.state().open_incident(kMassLoss); }

  Cluster c = cluster(nodes(8, gpus(8)));
  Sessions sessions;
  MonoTime mono{1000s};
  std::set<std::string> away;
};

TEST_F(MassLoss, StaysOpenUntilTheLastNodeIsBackThoughAllHaveSurelyEnded) {
  ASSERT_NE(open(), nullptr);
  EXPECT_THAT(open()->summary, HasSubstr("the network is suspected"));
  pass(c.knobs.down_after);
  ASSERT_EQ(c.node("node-1").liveness, Liveness::down);
  ASSERT_NE(open(), nullptr) << "they are broken as before";
  EXPECT_EQ(
      open()->summary,
      "3 of the nodes that fell silent at once (node-[1-3]) have surely ended their ranks and "
      "are down: their jobs run elsewhere; this ends when they are back, removed with `hai "
      "node remove`, or given up with `hai incident close`");
  const int64_t said = c.state().last_seq();
  pass(10min);
  EXPECT_EQ(c.state().last_seq(), said) << "it is said once";
  comes_back("node-1"), comes_back("node-2");
  pass(2s);
  ASSERT_NE(open(), nullptr);
  EXPECT_THAT(open()->summary, HasSubstr("1 of the nodes that fell silent at once (node-3)"));
  EXPECT_EQ(open()->nodes, std::vector{c.node_id("node-3")});
  EXPECT_EQ(open()->notes.back().text, "node-[1-2] back");
  comes_back("node-3");
  pass(2s);
  EXPECT_EQ(open(), nullptr);
}

TEST_F(MassLoss, EndsWhenThoseThatAreAwayWereRemoved) {
  pass(c.knobs.down_after);
  comes_back("node-1"), comes_back("node-2");
  ASSERT_TRUE(c.decide(RemoveNode{"node-3", "sold"}).is_ok());
  pass(2s);
  EXPECT_EQ(open(), nullptr);
}

TEST_F(MassLoss, IsNotOpenedAgainAfterAPersonHasGivenThemUp) {
  pass(c.knobs.down_after);
  ASSERT_TRUE(c.decide(CloseIncident{open()->id.value, "a rack is gone"}).is_ok());
  pass(10min);
  EXPECT_EQ(open(), nullptr);
}

TEST_F(MassLoss, LaterOneSilentNodeIsNoPartOfItAndManyAre) {
  pass(c.knobs.down_after);
  away.insert("node-4");
  pass(c.knobs.down_after * 2);
  ASSERT_EQ(c.node("node-4").liveness, Liveness::down);
  EXPECT_EQ(open()->nodes.size(), 3u);
  for (const char* name : {"node-5", "node-6", "node-7"}) away.insert(name);
  pass(2 * c.knobs.heartbeat + 4s);
  EXPECT_EQ(open()->nodes.size(), 6u);
  EXPECT_THAT(open()->summary, HasSubstr("6 nodes fell silent"));
}

// It may be open for weeks: what is lost then is laid to its node, unless many are silent again.
TEST_F(MassLoss, WhoIsBackIsJudgedByWhatHappensThen) {
  pass(c.knobs.down_after);
  comes_back("node-1"), comes_back("node-2");
  pass(2s);
  const auto marks = [&](const char* node) { return c.node(node).health.marks.size(); };
  const JobId alone = c.run(job("alone").restart(9), {"node-1"});
  away.insert("node-1");
  pass(c.knobs.down_after + 5s);
  ASSERT_EQ(c.node("node-1").liveness, Liveness::down);
  EXPECT_EQ(marks("node-1"), 1u);
  EXPECT_EQ(c.job(alone).early_failures.size(), 1u);
  const JobId many = c.run(job("many").nodes(3).restart(9), {"node-5", "node-6", "node-7"});
  for (const char* name : {"node-5", "node-6", "node-7"}) away.insert(name);
  pass(2 * c.knobs.down_after);
  ASSERT_EQ(c.node("node-5").liveness, Liveness::down);
  EXPECT_EQ(marks("node-5"), 0u);
  EXPECT_EQ(c.job(many).early_failures.size(), 0u);
}

}  // namespace
}  // namespace hai::test
