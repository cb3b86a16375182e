#include "cli/slurm/job_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace hai::cli::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Jobs 1 to `jobs`, each submitted a second after the one before and ended ten seconds later;
// those of one user are every `every`th. For those that had not ended by a time it looks through a
// hundred for a page.
struct Server {
  int64_t jobs = 0;
  int64_t every = 1;
  int asked = 0;
  int sent = 0;  // jobs

  Result<v1::ListJobsReply> list(const v1::ListJobsRequest& request) {
    ++asked;
    v1::ListJobsReply reply;
    int64_t id = request.cursor().empty() ? jobs : std::stoll(request.cursor()) - 1;
    const int64_t since = request.ended_since_us();
    const int64_t down_to = since > 0 ? std::max<int64_t>(0, id - 100) : 0;
    for (; id > down_to && reply.jobs_size() < request.page_size(); --id) {
      if (id % every != 0 || id + 10 < since) continue;
      ++sent;
      v1::Job& job = *reply.add_jobs();
      job.set_id(id);
      job.set_submitted_at_us(id);
      job.set_ended_at_us(id + 10);
    }
    if (id > 0) reply.set_next_cursor(std::to_string(id + 1));
    return reply;
  }
};

struct Found {
  std::vector<int64_t> ids;
  std::string left_out;
};

Found find(Server& server, const std::optional<Period>& period, size_t most) {
  Found found;
  v1::ListJobsRequest request;
  request.set_page_size(10);
  found.left_out =
      list_pages(
          request, period, most, [&](const v1::ListJobsRequest& page) { return server.list(page); },
          [&](const v1::Job& job) { found.ids.push_back(job.id()); })
          .value();
  return found;
}

TEST(SlurmJobPages, BeginWhereThePeriodEnds) {
  for (const int64_t jobs : {0, 1, 2, 99, 100, 101, 1'000}) {
    for (const int64_t every : {1, 7}) {
      Server server{.jobs = jobs, .every = every};
      for (const int64_t end : {1, 2, 50, 99, 100, 101, 500}) {
        v1::ListJobsRequest request;
        const std::string cursor = cursor_of(end, request, [&](const v1::ListJobsRequest& page) {
                                     return server.list(page);
                                   }).value();
        const int64_t begin = cursor.empty() ? jobs + 1 : std::stoll(cursor);
        for (int64_t id = every; id <= jobs; id += every) {
          EXPECT_EQ(id < begin, id < end) << id << " of " << jobs << ", until " << end;
        }
      }
    }
  }
}

TEST(SlurmJobPages, ADayIsFoundWholeHoweverManyCameAfterIt) {
  Server server{.jobs = 1'000'000};
  const Found found = find(server, Period{.start_us = 5'000, .end_us = 5'100}, 5);
  ASSERT_EQ(found.ids.size(), 110u);
  EXPECT_EQ(found.ids.front(), 5'099);
  EXPECT_EQ(found.ids.back(), 4'990) << "it ended in it";
  EXPECT_LT(server.asked, 70);
  EXPECT_THAT(found.left_out, HasSubstr("of jobs submitted before it only those from 4"));
}

// All that were submitted before a day were sent, to find the few that had not ended by then.
TEST(SlurmJobPages, OfWhatEndedBeforeThePeriodNothingIsSent) {
  Server server{.jobs = 5'000};
  const Found found = find(server, Period{.start_us = 4'900}, 1'000);
  EXPECT_EQ(found.ids.size(), 111u);
  EXPECT_EQ(found.left_out, "") << "it was looked for in all";
  EXPECT_LT(server.sent, 111 + 40) << "and the steps to where the period begins and ends";
}

TEST(SlurmJobPages, EndWithTheLastJob) {
  Server server{.jobs = 25};
  const Found all = find(server, {}, 1'000);
  EXPECT_EQ(all.ids.size(), 25u);
  EXPECT_EQ(all.left_out, "");
  const Found some = find(server, {}, 10);
  EXPECT_EQ(some.ids.size(), 10u);
  EXPECT_THAT(some.left_out, HasSubstr("only the newest 10 jobs"));
  const Found late = find(server, Period{.start_us = 35}, 1'000);
  EXPECT_THAT(late.ids, ElementsAre(25));
}

TEST(SlurmJobPages, AnErrorIsTheWholeAnswer) {
  const auto refuse = [](const v1::ListJobsRequest&) {
    return Result<v1::ListJobsReply>(unavailable("no leader"));
  };
  const auto take = [](const v1::Job&) { FAIL(); };
  EXPECT_EQ(list_pages({}, Period{}, 1, refuse, take).status().code(), Code::unavailable);
  EXPECT_EQ(list_pages({}, {}, 1, refuse, take).status().code(), Code::unavailable);
}

}  // namespace
}  // namespace hai::cli::slurm
