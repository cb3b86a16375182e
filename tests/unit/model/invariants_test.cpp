// The invariants are the simulator's eyes: each must see the damage it is there for. The damage is
// done to stored rows, as events cannot do it.

#include "server/model/invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/checkers.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Cluster two_jobs() {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.run(job("gang").nodes(2), {"node-1", "node-2"});
  c.run(job("share").gpus(2), {"node-3"}, GpuSet::first(2));
  return c;
}

std::vector<std::string> after(const Cluster& c, const std::function<void(StoredState&)>& damage) {
  StoredState stored = stored_state_of(c.state());
  damage(stored);
  return violated_invariants(ClusterState(std::move(stored)));
}

TEST(Invariants, HoldInAStateMadeByEvents) {
  EXPECT_THAT(violated_invariants(two_jobs().state()), IsEmpty());
}

TEST(Invariants, SeeGpusGivenTwice) {
  auto found = after(two_jobs(), [](StoredState& s) {
    s.jobs[1].attempt->ranks[0].place = {NodeId{1}, GpuSet::first(2)};
  });
  EXPECT_THAT(found, Contains(HasSubstr("given twice")));
}

TEST(Invariants, SeeAPartialGang) {
  auto found = after(two_jobs(), [](StoredState& s) { s.jobs[0].attempt->ranks.pop_back(); });
  EXPECT_THAT(found, Contains(HasSubstr("1 ranks placed, 2 asked")));
}

TEST(Invariants, SeeTwoRanksOnOneNode) {
  auto found = after(two_jobs(), [](StoredState& s) {
    s.jobs[0].attempt->ranks[0].place.gpus = GpuSet::first(4);
    s.jobs[0].attempt->ranks[1].place = {NodeId{1}, GpuSet{0xf0}};
  });
  EXPECT_THAT(found, Contains(HasSubstr("two ranks on node 1")));
}

TEST(Invariants, SeeGpusTheNodeDoesNotHave) {
  auto found = after(two_jobs(), [](StoredState& s) { s.nodes[2].facts.gpus = 1; });
  EXPECT_THAT(found, Contains(HasSubstr("does not have")));
}

TEST(Invariants, SeeOneGpuHeldForTwo) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId a = c.submit(job("a"));
  JobId b = c.submit(job("b"));
  c.emit(NodesReserved{a, {c.on({"node-1"}), Priority::normal, {}, c.now}});
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
  c.emit(NodesReserved{b, {c.on({"node-1"}), Priority::normal, {}, c.now}});
  EXPECT_THAT(violated_invariants(c.state()), Contains(HasSubstr("held twice")));
}

TEST(Invariants, SeeARunningJobWithoutAttempt) {
  auto found = after(two_jobs(), [](StoredState& s) { s.jobs[0].attempt.reset(); });
  EXPECT_THAT(found, Contains(HasSubstr("running without a live attempt")));
}

TEST(Invariants, SeeASuspensionWithoutDeadline) {
  auto found = after(two_jobs(),
                     [](StoredState& s) { s.jobs[0].attempt->state = AttemptState::suspending; });
  EXPECT_THAT(found, Contains(HasSubstr("suspend deadline")));
}

TEST(Invariants, SeeUsageThatIsNotTheSumOfWhatRuns) {
  // No agent is let in that has fewer GPUs than the jobs on its node were placed by.
  Cluster c = two_jobs();
  NodeFacts facts = c.node("node-3").facts;
  facts.gpus = 4;
  c.emit(NodeRegistered{c.node_id("node-3"), facts});
  EXPECT_THAT(violated_invariants(c.state()),
              Contains("usage of ann in training: 2250 counted, 2500 summed"));
}

TEST(Invariants, SeeARunningJobThatHoldsNodes) {
  auto found = after(two_jobs(), [](StoredState& s) {
    s.jobs[0].reservation = Reservation{{{NodeId{3}, GpuSet{0x80}}}, Priority::low, {}, {}};
  });
  EXPECT_THAT(found, Contains(HasSubstr("holds nodes though it does not wait")));
}

}  // namespace
}  // namespace hai::test
