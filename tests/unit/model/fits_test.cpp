// Whatever fits is taken by apply, and what apply would stop the program for does not fit.

#include "server/model/fits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.h"
#include "sim/chaos.h"
#include "tests/support/builders.h"
#include "tests/support/random_cluster.h"

namespace hai {
namespace {

std::vector<Event> random_log(uint64_t seed, int events) {
  test::RandomCluster cluster(seed);
  std::vector<Event> log = cluster.start_epoch(Epoch{1}).events;
  for (const Event& event : cluster.next_batch(Epoch{1}, events).events) log.push_back(event);
  return log;
}

// With everything that goes wrong in a cluster.
std::vector<Event> chaos_log(uint64_t seed) {
  std::vector<Event> log;
  ChaosOptions options;
  options.on_log = [&](const std::vector<Event>& events) { log = events; };
  run_chaos(seed, options);
  return log;
}

TEST(Fits, EveryEventOfALog) {
  for (uint64_t seed : {1, 2, 3}) {
    ClusterState state;
    for (const Event& event : random_log(seed, 1'000)) {
      const Status status = fits(state, event);
      ASSERT_TRUE(status.is_ok()) << status.message();
      state.apply(event);
    }
  }
}

// Events at another place of the log than theirs.
TEST(Fits, NothingThatApplyRefuses) {
  int misfits = 0;
  int fitting = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    const std::vector<Event> log = seed % 2 == 0 ? random_log(seed, 400) : chaos_log(seed);
    ClusterState state;
    for (const Event& event : log) {
      for (int tries = 0; tries < 3; ++tries) {
        Event other = log[rng.below(log.size())];
        other.seq = event.seq;
        if (!fits(state, other).is_ok()) {
          ++misfits;
          continue;
        }
        ++fitting;
        ClusterState copy = state;
        copy.apply(other);
      }
      state.apply(event);
    }
  }
  EXPECT_GT(misfits, 1'000);
  EXPECT_GT(fitting, 100);
}

TEST(Fits, SaysWhatDoesNot) {
  ClusterState state;
  const auto refused = [&](int64_t seq, EventBody body) {
    const Status status = fits(state, Event{seq, {}, "server", std::move(body)});
    EXPECT_EQ(status.code(), Code::data_loss);
    return std::string(status.message());
  };
  EXPECT_EQ(refused(2, EpochStarted{Epoch{1}}), "event 2 follows event 0");
  EXPECT_EQ(refused(1, EpochStarted{Epoch{0}}),
            "event 1 (epoch_started) does not fit: epoch 0 follows epoch 0");
  EXPECT_EQ(refused(1, JobHeld{JobId{4}, ""}),
            "event 1 (job_held) does not fit: job 4 does not exist");
  EXPECT_EQ(refused(1, NodeLivenessChanged{NodeId{4}, Liveness::down, ""}),
            "event 1 (node_liveness_changed) does not fit: node 4 does not exist");
  EXPECT_EQ(refused(1, IncidentClosed{IncidentId{1}, ""}),
            "event 1 (incident_closed) does not fit: incident 1 is not open");
}

// A task always shares the name of its array, which has not ended.
TEST(Fits, ATaskThatIsOpenedAgain) {
  test::Cluster c = test::cluster(test::nodes(1, test::gpus(8)));
  const auto reply = c.decide(SubmitJob{test::job("sweep").array("0-1").spec(), ""});
  ASSERT_TRUE(reply.is_ok()) << reply.status().message();
  const JobId array = reply.value().job;
  const JobId failed = c.state().find_task({array, 0})->id;
  c.finish(failed, JobState::failed);
  const auto opened_again = [&] {
    const Event event{c.state().last_seq() + 1, c.now, "server", JobReopened{failed, {}, ""}};
    return std::string(fits(c.state(), event).message());
  };
  EXPECT_EQ(opened_again(), "");
  c.finish(c.state().find_task({array, 1})->id);
  c.finish(array, JobState::failed);
  EXPECT_THAT(opened_again(), testing::HasSubstr("job 2 is a task of no unfinished array"));
}

}  // namespace
}  // namespace hai
