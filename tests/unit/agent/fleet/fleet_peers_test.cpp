// Fencing in a fleet stands on these answers: the rules of real peers must hold.

#include "agent/fleet/fleet_peers.h"

#include <gtest/gtest.h>

#include "sim/virtual_loop.h"

namespace hai {
namespace {

class FleetPeersTest : public ::testing::Test {
 protected:
  // What a hears when it asks b.
  std::vector<LeaseAnswer> ask() {
    std::vector<LeaseAnswer> heard;
    a_->start({.asked = [] { return LeaseAnswer::unknown; },
               .answered =
                   [&heard](int64_t, const std::string& node, LeaseAnswer answer) {
                     EXPECT_EQ(node, "b");
                     heard.push_back(answer);
                   }});
    b_->start({.asked = [this] { return answer_of_b_; }, .answered = {}});
    a_->ask(1, {Peer{.node = "b"}, Peer{.node = "nobody"}});
    timeline_.run_until(timeline_.now() + 1s);
    return heard;
  }

  Timeline timeline_;
  VirtualLoop loop_{timeline_};
  FleetPeers all_{loop_};
  bool a_is_silent_ = false;
  bool b_is_silent_ = false;
  LeaseAnswer answer_of_b_ = LeaseAnswer::dead;
  std::unique_ptr<FleetPeer> a_ = std::make_unique<FleetPeer>(all_, "a", a_is_silent_);
  std::unique_ptr<FleetPeer> b_ = std::make_unique<FleetPeer>(all_, "b", b_is_silent_);
};

TEST_F(FleetPeersTest, PassOnWhatIsTrueOfTheAskedOne) {
  EXPECT_EQ(ask(), std::vector{LeaseAnswer::dead});
  answer_of_b_ = LeaseAnswer::alive;
  EXPECT_EQ(ask(), std::vector{LeaseAnswer::alive});
}

TEST_F(FleetPeersTest, WhoIsCutOffNeitherAsksNorAnswers) {
  b_is_silent_ = true;
  EXPECT_TRUE(ask().empty());
  b_is_silent_ = false;
  a_is_silent_ = true;
  EXPECT_TRUE(ask().empty());
}

TEST_F(FleetPeersTest, TheDeadAreNotAskedEvenIfTheyDieAfterTheQuestion) {
  std::vector<LeaseAnswer> heard;
  a_->start({.asked = {}, .answered = [&](int64_t, const std::string&, LeaseAnswer answer) {
               heard.push_back(answer);
             }});
  b_->start({.asked = [] { return LeaseAnswer::dead; }, .answered = {}});
  a_->ask(1, {Peer{.node = "b"}});
  b_.reset();
  timeline_.run_until(timeline_.now() + 1s);
  EXPECT_TRUE(heard.empty());
}

}  // namespace
}  // namespace hai
