// The measures of a replay that can be computed by hand.

#include "sim/trace/meter.h"

#include <gmock/gmock.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

// Feeds a meter what happens to a cluster, as it happens.
class Fed {
 public:
  Fed(Cluster& c, Meter& meter) : c_(c), meter_(meter) { feed(); }
  void feed() {
    std::vector<Event> news(c_.events().begin() + static_cast<ptrdiff_t>(seen_), c_.events().end());
    seen_ = c_.events().size();
    meter_.durable(news, c_.state());
  }

 private:
  Cluster& c_;
  Meter& meter_;
  size_t seen_ = 0;
};

TEST(Meter, TwoJobsOneAfterTheOther) {
  Cluster c = cluster(nodes(1, gpus(8)));
  std::vector<TraceJob> jobs = {{.submit = 0s, .work = 100s}, {.submit = 50s, .work = 40s}};
  Meter meter(jobs, 8, c.now);
  Fed fed(c, meter);
  JobId first = c.submit(job("t0"));
  fed.feed();
  c.advance(10s).place(first, c.on({"node-1"}));
  fed.feed();
  c.advance(40s);
  JobId second = c.submit(job("t1"));
  fed.feed();
  c.advance(60s);
  c.confirm(first);
  c.leave(first, AttemptState::succeeded);
  c.finish(first);
  c.place(second, c.on({"node-1"}));
  fed.feed();
  c.advance(40s);
  c.confirm(second);
  c.leave(second, AttemptState::succeeded);
  c.finish(second);
  fed.feed();
  meter.run_ended({.job = 0, .lost = 9s, .switching = 4500ms, .was_asked = true});
  meter.run_ended({.job = 1, .lost = 9s});

  Measures m = meter.measures();
  EXPECT_EQ(m.submitted, 2);
  EXPECT_EQ(m.completed, 2);
  EXPECT_EQ(m.makespan, 150s);
  EXPECT_DOUBLE_EQ(m.utilization, 40.0 / 50);         // given from 10 s on, last submit at 50 s
  EXPECT_DOUBLE_EQ(m.demand_satisfied, 140.0 / 150);  // somebody wants the node all the time
  EXPECT_DOUBLE_EQ(m.given_gpu_hours, 8 * 140.0 / 3600);
  EXPECT_DOUBLE_EQ(m.jct_s.mean, (110 + 100) / 2.0);
  EXPECT_DOUBLE_EQ(m.wait_s.mean, (10 + 60) / 2.0);
  EXPECT_DOUBLE_EQ(m.slowdown.mean, (1.1 + 2.5) / 2);
  EXPECT_DOUBLE_EQ(m.lost_gpu_hours, 8 * 18 / 3600.0);
  EXPECT_DOUBLE_EQ(m.lost_when_asked_gpu_hours, 8 * 9 / 3600.0);
  EXPECT_DOUBLE_EQ(m.switch_gpu_hours, 8 * 4.5 / 3600);
  EXPECT_DOUBLE_EQ(m.switch_share, 22.5 / 140);
  EXPECT_EQ(m.cross_zone_max, 0);
}

TEST(Meter, SlowdownIsBoundedForJobsOfSeconds) {
  Cluster c = cluster(nodes(1, gpus(8)));
  std::vector<TraceJob> jobs = {{.submit = 0s, .work = 1s}};
  Meter meter(jobs, 8, c.now);
  Fed fed(c, meter);
  JobId id = c.submit(job("t0"));
  c.advance(20s).place(id, c.on({"node-1"}));
  c.confirm(id);
  c.leave(id, AttemptState::succeeded);
  c.finish(id);
  fed.feed();
  EXPECT_DOUBLE_EQ(meter.measures().slowdown.mean, 2);
}

TEST(Meter, CountsCrossingsAndNodesThatTakeJobs) {
  Cluster c = cluster(nodes(2, gpus(8)), nodes(2, gpus(8)).zone("B").leaf("leaf-2"));
  std::vector<TraceJob> jobs = {{.submit = 0s, .work = 100s, .nodes = 3},
                                {.submit = 100s, .work = 1s}};
  Meter meter(jobs, 8, c.now);
  Fed fed(c, meter);
  c.set_scheduling("node-4", Scheduling::cordoned);
  JobId id = c.submit(job("t0").nodes(3));
  fed.feed();
  c.place(id, c.on({"node-1", "node-3", "node-2"}));
  fed.feed();
  c.advance(100s);
  c.submit(job("t1"));
  fed.feed();
  Measures m = meter.measures();
  EXPECT_EQ(m.cross_zone_max, 1);
  EXPECT_EQ(m.crossing_pairs_max, 2);
  EXPECT_DOUBLE_EQ(m.utilization, 1);  // 24 of 24 healthy GPUs
}

}  // namespace
}  // namespace hai::test
