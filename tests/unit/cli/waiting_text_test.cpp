#include "cli/waiting_text.h"

#include <gtest/gtest.h>

namespace hai::cli {
namespace {

constexpr UnixTime kWaitingTime = unix_micros(1'795'176'000'000'000);

v1::Job short_waiting_job() {
  v1::Job job;
  job.set_id(17);
  job.set_state("queued");
  job.mutable_pending_reason()->set_text("4 nodes asked, 1 free");
  return job;
}

v1::WhyJobReply why(int before, Duration p50, Duration p90) {
  v1::WhyJobReply reply;
  reply.set_jobs_before(before);
  reply.set_start_p50_us(to_micros(kWaitingTime + p50));
  reply.set_start_p90_us(to_micros(kWaitingTime + p90));
  return reply;
}

TEST(WaitingText, SaysPlaceEstimateAndReason) {
  EXPECT_EQ(
      progress_text(short_waiting_job(), why(3, 130min, 5h), kWaitingTime - 65s, kWaitingTime),
      "job 17 queued 1m05s: 3 jobs before it, starts in about 2h10m; 4 nodes asked, 1 free");
  EXPECT_EQ(outlook_text(why(3, 130min, 5h), kWaitingTime),
            "3 jobs before it; expected to start in 2h10m, 9 of 10 such jobs within 5h00m");
}

TEST(WaitingText, SaysNothingThatIsNotKnown) {
  EXPECT_EQ(progress_text(short_waiting_job(), std::nullopt, kWaitingTime, kWaitingTime),
            "job 17 queued 0s: 4 nodes asked, 1 free");
  v1::WhyJobReply place;
  place.set_jobs_before(0);
  EXPECT_EQ(progress_text(short_waiting_job(), place, kWaitingTime, kWaitingTime),
            "job 17 queued 0s: first in the queue; 4 nodes asked, 1 free");
  EXPECT_EQ(outlook_text(place, kWaitingTime), "first in the queue");
  EXPECT_EQ(outlook_text({}, kWaitingTime), "");
  v1::WhyJobReply vague = why(1, 60s, 60s);
  vague.clear_start_p90_us();
  EXPECT_EQ(outlook_text(vague, kWaitingTime),
            "1 job before it; expected to start in 1m00s, or far later");
}

TEST(WaitingText, WhatIsDueStartsNow) {
  EXPECT_EQ(outlook_text(why(0, -3s, 0s), kWaitingTime),
            "first in the queue; expected to start now");
  EXPECT_EQ(outlook_text(why(2'000, 60s, 60s), kWaitingTime).substr(0, 28),
            "2000 jobs or more before it;");
}

TEST(WaitingText, AHeldJobWaitsForAPerson) {
  v1::Job job = short_waiting_job();
  job.set_held(true);
  EXPECT_EQ(waiting_text(job), "job 17 is queued and held: `hai release` lets it run");
  EXPECT_EQ(progress_text(job, std::nullopt, kWaitingTime, kWaitingTime),
            "job 17 queued 0s: held, `hai release` lets it run");
  job.set_state("running");
  EXPECT_EQ(waiting_text(job), "");
}

TEST(WaitingText, ATaskThatItsArrayHoldsWaitsForNobody) {
  v1::Job job = short_waiting_job();
  job.set_held(true);
  job.mutable_pending_reason()->set_code("array");
  job.mutable_pending_reason()->set_text("over the limit of its array");
  EXPECT_EQ(waiting_text(job), "job 17 is queued: over the limit of its array");
  EXPECT_EQ(progress_text(job, std::nullopt, kWaitingTime, kWaitingTime),
            "job 17 queued 0s: over the limit of its array");
}

}  // namespace
}  // namespace hai::cli
