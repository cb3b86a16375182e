// What people have had, and what their quotas leave them.

#include "server/plan/ledger.h"

#include <gtest/gtest.h>

#include "server/plan/time_sharing.h"
#include "tests/unit/plan/usage.h"

namespace hai::test {
namespace {

constexpr int64_t kQuantum = 30 * 60;  // seconds

class LedgerTest : public ::testing::Test {
 protected:
  Ledger& ledger() {
    planner_ = std::make_unique<TimeSharingPlanner>(VictimChoice::least_lost_work);
    return planner_->index_at(c.state(), c.knobs, c.now).ledger;
  }
  int64_t usage(const std::string& user) {
    const Ledger& ledger = this->ledger();
    return ledger.usage(ledger.find(user));
  }
  Room& room(const std::string& user) {
    Ledger& ledger = this->ledger();
    return ledger.room(c.state(), ledger.find(user), "training");
  }

  Cluster c = cluster(nodes(4, gpus(8)));

 private:
  std::unique_ptr<TimeSharingPlanner> planner_;
};

TEST_F(LedgerTest, KnowsWhomItKnows) {
  EXPECT_GE(ledger().find("ann"), 0);
  EXPECT_EQ(ledger().find("nobody"), -1);
}

TEST_F(LedgerTest, AnAttemptCountsItsWholeQuantumAtOnce) {
  const JobId id = c.place(job("j").nodes(2), {"node-1", "node-2"});
  EXPECT_EQ(usage("ann"), 16 * kQuantum) << "placed";
  c.confirm(id);
  EXPECT_EQ(usage("ann"), 16 * kQuantum) << "running";
  c.advance(30min - 1s);
  EXPECT_EQ(usage("ann"), 16 * kQuantum);
  c.advance(1s);
  EXPECT_EQ(usage("ann"), 16 * kQuantum);
  c.advance(10min);
  EXPECT_EQ(usage("ann"), 16 * (kQuantum + 600)) << "then what it runs";
}

TEST_F(LedgerTest, SharesCountTheirGpus) {
  c.run(job("a").gpus(2), {"node-1"}, GpuSet::first(2));
  c.run(job("b").gpus(4), {"node-1"}, GpuSet{0xf0});
  c.advance(1h);
  EXPECT_EQ(usage("ann"), 6 * 3600);
}

TEST_F(LedgerTest, WhatHasEndedDecays) {
  used(c, "bob", "node-1", 10h);
  EXPECT_EQ(usage("bob"), 8 * 36'000) << "what it ran, not its quantum";
  c.advance(c.knobs.usage_half_life);
  EXPECT_EQ(usage("bob"), 4 * 36'000);
  c.advance(100 * c.knobs.usage_half_life);
  EXPECT_EQ(usage("bob"), 0);
}

TEST_F(LedgerTest, ForgetsWhatAPassGave) {
  Ledger& ledger = this->ledger();
  const int ann = ledger.find("ann");
  ledger.charge(ann, 1'000);
  EXPECT_EQ(ledger.usage(ann), 1'000);
  ledger.end_pass();
  EXPECT_EQ(ledger.usage(ann), 0);
}

TEST_F(LedgerTest, RoomIsWhatRunningJobsLeave) {
  c.set_quota("ann", "training", Priority::normal, 2);
  c.run(job("j"), {"node-1"});
  EXPECT_TRUE(room("ann").has_room(Priority::normal, 1'000));
  EXPECT_FALSE(room("ann").has_room(Priority::normal, 1'001));
  EXPECT_TRUE(room("ann").has_room(Priority::high, 1'000'000)) << "the public row has no limit";
}

TEST_F(LedgerTest, SharesTakeTheirPartOfANode) {
  c.set_quota("ann", "training", Priority::normal, 1);
  c.run(job("a").gpus(4), {"node-1"}, GpuSet::first(4));
  EXPECT_TRUE(room("ann").has_room(Priority::normal, 500));
  EXPECT_FALSE(room("ann").has_room(Priority::normal, 501));
}

TEST_F(LedgerTest, RoomForgetsWhatAPassGave) {
  c.set_quota("ann", "training", Priority::normal, 1);
  Ledger& ledger = this->ledger();
  Room& room = ledger.room(c.state(), ledger.find("ann"), "training");
  ledger.use(room, Priority::normal, 1'000);
  EXPECT_EQ(room.level_for(Priority::normal, 1'000), std::nullopt);
  ledger.end_pass();
  EXPECT_EQ(room.level_for(Priority::normal, 1'000), Priority::normal);
}

TEST_F(LedgerTest, AutoTakesTheHighestLevelItMayWithQuotaFree) {
  EXPECT_EQ(room("ann").level_for(Priority::automatic, 1'000), kAutoCeiling);
  c.set_quota("ann", "training", Priority::normal, 0);
  c.set_quota("ann", "training", Priority::under_normal, 0);
  EXPECT_EQ(room("ann").level_for(Priority::automatic, 1'000), Priority::below_normal);
  c.set_quota("ann", "training", Priority::below_normal, 0);
  c.set_quota("ann", "training", Priority::low, 0);
  EXPECT_EQ(room("ann").level_for(Priority::automatic, 1'000), std::nullopt);
}

TEST_F(LedgerTest, SaysWhatIsUsed) {
  c.set_quota("ann", "training", Priority::normal, 2);
  c.run(job("j").nodes(2), {"node-1", "node-2"});
  EXPECT_EQ(room("ann").reason(Priority::normal, 1'000).text,
            "quota of ann in training/normal: 2 nodes, 2 used, 1 asked");
}

}  // namespace
}  // namespace hai::test
