// Lists of finished jobs: what the history is asked, and where the next page begins.

#include "server/api/event_feed.h"
#include "server/api/queries.h"
#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

// Has no jobs, and keeps what it was asked.
class EmptyHistory final : public History {
 public:
  explicit EmptyHistory(Loop& loop) : loop_(loop) {}

  void jobs(JobQuery query, std::function<void(Result<std::vector<Job>>)> done) override {
    asked = std::move(query);
    loop_.post([done = std::move(done)] { done(std::vector<Job>{}); });
  }
  void job(JobKey, std::function<void(Result<Job>)> done) override { refuse(done); }
  void attempts(JobId, std::function<void(Result<std::vector<Attempt>>)> done) override {
    refuse(done);
  }
  void events(EventQuery, std::function<void(Result<std::vector<Event>>)> done) override {
    refuse(done);
  }
  void incidents(IncidentQuery, std::function<void(Result<std::vector<Incident>>)> done) override {
    refuse(done);
  }
  void stays(NodeId, int, std::function<void(Result<std::vector<NodeStay>>)> done) override {
    refuse(done);
  }
  void audit(AuditQuery, std::function<void(Result<std::vector<AuditRow>>)> done) override {
    refuse(done);
  }

  JobQuery asked;

 private:
  template <typename Callback>
  void refuse(Callback done) {
    loop_.post([done = std::move(done)] { done(unavailable("not asked here")); });
  }
  Loop& loop_;
};

class FinishedJobs : public ::testing::Test {
 protected:
  JobPage list(JobListRequest request) {
    request.include_finished = true;
    std::optional<Result<JobPage>> got;
    queries_.list_jobs({.trusted_user = "ann"}, request,
                       [&got](Result<JobPage> page) { got = std::move(page); });
    w_.run(10s);
    CHECK(got.has_value() && got->is_ok());
    return std::move(*got).value();
  }

  ControllerWorld w_;
  std::unique_ptr<Server> server_ = w_.leader();
  EventFeed feed_;
  EmptyHistory history_{server_->loop};
  Queries queries_{server_->controller, &history_, feed_};
};

TEST_F(FinishedJobs, OfAGroupTagOrEndAreLookedForAPartOfTheHistoryAPage) {
  for (const JobListRequest& request :
       {JobListRequest{.group = "debug"}, JobListRequest{.tags = {"rare"}},
        JobListRequest{.ended_since = UnixTime(1s)}}) {
    JobListRequest page = request;
    page.only_mine = true;
    page.before = JobId{450'000};
    page.before = list(page).next;
    EXPECT_EQ(page.before, JobId{250'000});
    EXPECT_EQ(history_.asked.down_to, page.before);
    EXPECT_EQ(history_.asked.ended_since, request.ended_since);
    page.before = list(page).next;
    EXPECT_EQ(page.before, JobId{50'000});
    EXPECT_EQ(list(page).next, JobId{}) << "it was the last one";
    EXPECT_EQ(history_.asked.before, JobId{50'000});
  }
}

TEST_F(FinishedJobs, ThatAnIndexLeadsToAreLookedForInAll) {
  JobListRequest page{.states = {JobState::failed}, .user = "ann", .before = JobId{450'000}};
  EXPECT_EQ(list(page).next, JobId{});
  EXPECT_EQ(history_.asked.down_to, JobId{});
}

}  // namespace
}  // namespace hai::test
