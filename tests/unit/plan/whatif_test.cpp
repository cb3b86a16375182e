// Who would fare differently.

#include "server/plan/whatif.h"

#include "server/plan/snapshot.h"
#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Whatever `change` does to the second copy.
template <typename Change>
std::vector<std::string> what_if(const Cluster& c, Change&& change) {
  const StoredState copy = copy_for_planning(c.state(), c.knobs, c.now, {});
  Cluster changed = c;
  change(changed);
  const ClusterState after(copy_for_planning(changed.state(), c.knobs, c.now, {}));
  std::vector<std::string> out;
  for (const JobDifference& difference : compare(
           c.state(), settle(ClusterState(copy), c.knobs, c.now), settle(after, c.knobs, c.now))) {
    out.push_back(fmt::format("{} {}: {}", changed.job(difference.job).spec->name,
                              to_string(difference.effect), difference.text));
  }
  return out;
}

TEST(WhatIf, NothingFromNothing) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("a"), {"node-1"});
  c.submit(job("b").nodes(2));
  EXPECT_THAT(what_if(c, [](Cluster&) {}), IsEmpty());
}

TEST(WhatIf, ASubmittedJobThatFits) {
  Cluster c = cluster(nodes(1, gpus(8)));
  EXPECT_THAT(what_if(c, [](Cluster& x) { x.submit(job("j")); }),
              ElementsAre("j starts: starts on node-1"));
}

TEST(WhatIf, ASubmittedJobThatInterruptsOthers) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("low").priority(Priority::low), {"node-1"});
  c.run(job("other").priority(Priority::high), {"node-2"});
  EXPECT_THAT(what_if(c, [](Cluster& x) { x.submit(job("j").priority(Priority::high)); }),
              ElementsAre("low suspended: is suspended on node-1: makes room for job 3 (j) of ann, "
                          "priority high",
                          "j starts: starts on node-1"));
}

TEST(WhatIf, ASubmittedJobThatHasToWait) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("a"), {"node-1"});
  const auto found = what_if(c, [](Cluster& x) { x.submit(job("j")); });
  EXPECT_THAT(found, ElementsAre("j waits: waits: needs 1 whole node in training; 0 of 1 open node "
                                 "can give that now"));
}

TEST(WhatIf, ADrainMovesWhoFindsAnotherPlace) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("a"), {"node-1"});
  EXPECT_THAT(what_if(c, [](Cluster& x) { x.set_scheduling("node-1", Scheduling::draining); }),
              ElementsAre("a moves: moves from node-1 to node-2: node node-1 is being drained"));
}

TEST(WhatIf, ADrainSuspendsWhoDoesNotAndTakesAStartAway) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("a").priority(Priority::high), {"node-1"});
  c.submit(job("b"));
  const auto found =
      what_if(c, [](Cluster& x) { x.set_scheduling("node-1", Scheduling::draining); });
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], "a moves: moves from node-1 to node-2: node node-1 is being drained");
  EXPECT_TRUE(found[1].starts_with("b waits: waits: needs 1 whole node")) << found[1];
}

TEST(WhatIf, AQuotaLetsJobsStart) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.set_quota("ann", "training", Priority::normal, 1);
  c.run(job("a"), {"node-1"});
  c.submit(job("b"));
  EXPECT_THAT(what_if(c, [](Cluster& x) { x.set_quota("ann", "training", Priority::normal, 2); }),
              ElementsAre("b starts: starts on node-2"));
}

TEST(WhatIf, AVictimOfTodayThatKeepsRunning) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("low").priority(Priority::low), {"node-1"});
  c.submit(job("h").priority(Priority::high));
  EXPECT_THAT(what_if(c,
                      [](Cluster& x) {
                        x.emit(JobPriorityChanged{JobId{2}, Priority::low});
                      }),
              ElementsAre("low keeps_running: keeps running on node-1",
                          "h waits: waits: needs 1 whole node in training; 0 of 1 open node can "
                          "give that now"));
}

TEST(CopyForPlanning, HasAnArrayWholeOnlyWhereTasksOfItMayBeMade) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId sweep = c.decide(SubmitJob{job("sweep").array("0-99").spec(), ""}).value().job;
  ASSERT_TRUE(c.decide(HoldJob{"1_50", "night"}).is_ok());  // made early
  const Job array = c.job(sweep);
  ASSERT_TRUE(array.array.gaps);
  const std::vector<JobId> tasks = c.state().unfinished_tasks(sweep);
  const auto copy = [&](SnapshotOptions options) {
    options.waiting_max = 0;
    return ClusterState(copy_for_planning(c.state(), c.knobs, c.now, options));
  };

  const ClusterState bare = copy({.also = {sweep, tasks.back()}});
  EXPECT_EQ(bare.find(sweep)->array.made, array.array.made);
  EXPECT_FALSE(bare.find(sweep)->array.gaps) << "they may be long";
  EXPECT_EQ(bare.unfinished_tasks(sweep), std::vector{tasks.back()});
  EXPECT_NE(bare.find_task({sweep, 50}), nullptr);

  const ClusterState whole = copy({.arrays = {sweep}});
  EXPECT_EQ(whole.find(sweep)->array, array.array);
  EXPECT_EQ(whole.unfinished_tasks(sweep), tasks);

  const JobId pairs =
      c.decide(SubmitJob{job("pairs").array("0-99").depends_on("aftercorr:1").spec(), ""})
          .value()
          .job;
  const ClusterState both = copy({.arrays = {pairs}});
  EXPECT_EQ(both.find(sweep)->array, array.array);
  EXPECT_EQ(both.unfinished_tasks(sweep), tasks);
}

}  // namespace
}  // namespace hai::test
