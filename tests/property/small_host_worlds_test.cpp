// Every life of some small clusters, up to a number of steps: jobs of every mix are placed, asked
// to leave, leave and end in every order.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "server/model/invariants.h"
#include "tests/property/host_checks.h"
#include "tests/property/random_plan_world.h"

namespace hai::test {
namespace {

constexpr int kStepsMax = 4;

// Of nodes with 2 GPUs, 4 CPUs and 8 GiB.
std::vector<JobBuilder> kinds() {
  return {job("share").gpus(1),
          job("hog").gpus(1).cpus(3).priority(Priority::low),
          job("modest").gpus(1).cpus(1).memory_gib(7),
          job("whole").priority(Priority::high),
          job("gang").nodes(2).priority(Priority::high),
          job("cpu").gpus(kNoGpus).cpus(2).priority(Priority::extreme_high),
          job("cpus").gpus(kNoGpus).cpus(4).memory_gib(1)};
}

class Worlds {
 public:
  int lives = 0;
  int compared = 0;

  void all_of(const std::vector<int>& mix) {
    SCOPED_TRACE(fmt::format("jobs {} {} {}", mix[0], mix[1], mix[2]));
    Cluster c = cluster(nodes(2, gpus(2)).cpus(4).memory_gib(8));
    const std::vector<JobBuilder> all = kinds();
    for (size_t i = 0; i < mix.size(); ++i) {
      JobBuilder each = all[static_cast<size_t>(mix[i])];
      c.submit(each.named(fmt::format("{}-{}", each.spec().name, i)).user(i == 1 ? "bob" : "ann"));
    }
    live(c, 0);
  }

 private:
  void check(const Cluster& c) {
    EXPECT_THAT(violated_invariants(c.state()), ::testing::IsEmpty());
    compared += expect_waiting_ones_change_nothing(c);
    compared += expect_first_is_not_delayed(c);
    ++lives;
  }

  // One thing more happens: every job that could end or leave does so in a copy, or a pass.
  void live(const Cluster& c, int steps) {
    if (::testing::Test::HasFailure()) return;
    check(c);
    if (steps == kStepsMax) return;
    Cluster passed = c;
    passed.pass();
    if (passed.events().size() != c.events().size()) return live(confirmed(passed), steps + 1);
    for (JobId id : c.state().live()) {
      Cluster next = c;
      if (c.attempt(id).state == AttemptState::suspending) {
        next.leave(id);
      } else {
        next.finish(id);
      }
      live(next, steps + 1);
    }
  }

  // Ranks that were placed run.
  static Cluster confirmed(Cluster c) {
    const std::set<JobId> live = c.state().live();
    for (JobId id : live) {
      if (c.attempt(id).state == AttemptState::placed) c.confirm(id);
    }
    return c;
  }
};

TEST(SmallWorlds, AreNeverOvercommittedAndNobodyIsDelayed) {
  Worlds worlds;
  const int count = static_cast<int>(kinds().size());
  for (int a = 0; a < count; ++a) {
    for (int b = a; b < count; ++b) {
      for (int d = b; d < count; ++d) worlds.all_of({a, b, d});
    }
  }
  EXPECT_GT(worlds.lives, 500);
  EXPECT_GT(worlds.compared, 200);
}

}  // namespace
}  // namespace hai::test
