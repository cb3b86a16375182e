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
  JobPage list(const JobListRequest& request) { return list(queries_, "ann", request); }
  JobPage list(Queries& queries, const std::string& user, JobListRequest request) {
    request.include_finished = true;
    std::optional<Result<JobPage>> got;
    queries.list_jobs({.trusted_user = user}, request,
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

// A full page ends with the number of a job that passed what the history was asked for: whoever
// does not see that job learned when it ended, how, and in which group.
TEST_F(FinishedJobs, ThatAreHiddenPassNoFilterOfTheHistory) {
  for (const auto& [name, group] : {std::pair("bob", "vision"), {"bert", "vision"}, {"eve", "x"}}) {
    server_->controller.submit({.trusted_user = "ann"}, SetUser{{.name = name, .groups = {group}}},
                               [](const Result<CommandReply>& reply) { CHECK(reply.is_ok()); });
  }
  w_.run(1s);
  Queries team(server_->controller, &history_, feed_, Sights(Visibility::team));
  const JobListRequest page{.states = {JobState::failed},
                            .group = "debug",
                            .tags = {"rare"},
                            .ended_since = UnixTime(1s),
                            .limit = 1};
  struct Case {
    std::string user;  // "" = of everybody
    bool is_asked;
    bool is_filtered;
    std::string tag;
  };
  for (const Case& each : {Case{"", true, false, ""}, Case{"bert", true, true, ""},
                           Case{"bob", true, true, "rare"}, Case{"eve", false, false, ""}}) {
    JobListRequest of_user = page;
    of_user.user = each.user;
    history_.asked = JobQuery{.limit = 0};
    list(team, "bob", of_user);
    const JobQuery& asked = history_.asked;
    EXPECT_EQ(asked.limit == 1, each.is_asked) << each.user;
    EXPECT_EQ(asked.ended_since.has_value(), each.is_filtered) << each.user;
    EXPECT_EQ(asked.states.empty(), !each.is_filtered) << each.user;
    EXPECT_EQ(asked.group, each.is_filtered ? "debug" : "") << each.user;
    EXPECT_EQ(asked.tag, each.tag) << each.user;
  }
  Queries rows(server_->controller, &history_, feed_, Sights(Visibility::all));
  list(rows, "bob", page);
  EXPECT_TRUE(history_.asked.ended_since.has_value()) << "a row says when it ended";
  EXPECT_EQ(history_.asked.tag, "");
}

TEST_F(FinishedJobs, ThatAnIndexLeadsToAreLookedForInAll) {
  JobListRequest page{.states = {JobState::failed}, .user = "ann", .before = JobId{450'000}};
  EXPECT_EQ(list(page).next, JobId{});
  EXPECT_EQ(history_.asked.down_to, JobId{});
}

}  // namespace
}  // namespace hai::test
