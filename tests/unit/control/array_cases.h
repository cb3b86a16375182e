#pragma once
// Arrays in a small cluster: submitted, advanced as on each tick, and their tasks by number.

#include "server/control/attempt/array_flow.h"
#include "server/model/invariants.h"
#include "tests/unit/control/agent_reports.h"

namespace hai::test {

inline JobId submit(Cluster& c, const JobBuilder& builder) {
  const auto reply = c.decide(SubmitJob{builder.spec(), builder.request_id()}, builder.user());
  EXPECT_TRUE(reply.is_ok()) << reply.status().message();
  return reply.value().job;
}

inline void tick(Cluster& c) {
  c.decide_with(decide_arrays);
  EXPECT_THAT(violated_invariants(c.state()), ::testing::IsEmpty());
}

inline const Job& task(const Cluster& c, JobId array, int index) {
  const Job* found = c.state().find_task({array, index});
  CHECK(found != nullptr);
  return *found;
}

}  // namespace hai::test
