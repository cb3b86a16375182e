// What people ask for many things at once, where nothing can be decided.

#include "server/api/actions.h"

#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

class ActionsOfMany : public ::testing::Test {
 protected:
  using Results = Result<std::vector<ActionResult>>;
  Results stop(Server& server, const std::vector<std::string>& jobs) {
    Actions actions(server.controller);
    std::optional<Results> got;
    actions.control_jobs({.trusted_user = "ann"}, jobs, v1::JOB_ACTION_STOP, "",
                         [&got](Results results) { got = std::move(results); });
    w.run(10s);
    CHECK(got.has_value());
    return *std::move(got);
  }
  ControllerWorld w;
};

TEST_F(ActionsOfMany, AreRefusedAsOneByWhoDoesNotLead) {
  auto leader = w.leader("a");
  auto standby = w.server("b");
  standby->controller.start();
  w.run(1s);
  const Results results = stop(*standby, {"1", "2"});
  EXPECT_EQ(results.status().code(), Code::unavailable);
  EXPECT_THAT(results.status().message(), HasSubstr("this server does not lead"));
}

// It answers reads, so nothing stops the request at the door.
TEST_F(ActionsOfMany, AreRefusedAsOneWithoutTheStore) {
  auto leader = w.leader("a");
  w.database.hooks.fault = [] { return MemFault::fail_before; };
  submit(*leader, job("j"));
  w.run(5s);
  ASSERT_TRUE(leader->controller.standing().stale_since.has_value());
  const Results results = stop(*leader, {"1"});
  EXPECT_EQ(results.status().code(), Code::unavailable);
  EXPECT_THAT(results.status().message(), HasSubstr("the database cannot be reached"));
}

TEST_F(ActionsOfMany, LargeSpecsOfOnePersonAreBounded) {
  auto leader = w.leader("a");
  Actions actions(leader->controller);
  std::vector<Submission> submissions(300);
  for (size_t i = 0; i < submissions.size(); ++i) {
    submissions[i].spec = job("large-" + std::to_string(i)).spec();
    for (const char* name : {"A", "B", "C", "D"})
      submissions[i].spec.environments[name] = std::string(62'500, 'x');
  }
  std::optional<Results> got;
  actions.submit_jobs({.trusted_user = "ann"}, std::move(submissions),
                      [&got](Results results) { got = std::move(results); });
  w.run(10s);
  ASSERT_TRUE(got && got->is_ok());
  const auto refused = std::ranges::count_if(got->value(), [](const ActionResult& each) {
    return each.status.code() == Code::resource_exhausted;
  });
  EXPECT_EQ(refused, 28) << "64 MiB of 73";
}

// Each is small, and all are kept for ever.
TEST_F(ActionsOfMany, ChangesOfOnePersonAreBoundedWhateverTheyAre) {
  auto leader = w.leader("a");
  w.connect(*leader, 1, "node-1");
  send(*leader, SetUser{{.name = "bob"}});
  w.run(1s);
  Actions actions(leader->controller);
  std::optional<Results> got;
  const auto take = [&got](Results results) { got = std::move(results); };
  std::vector<Submission> submissions(500);
  std::vector<std::string> jobs;
  for (size_t i = 0; i < submissions.size(); ++i) {
    submissions[i].spec = job("j" + std::to_string(i)).spec();
    jobs.push_back(std::to_string(i + 1));
  }
  actions.submit_jobs({.trusted_user = "bob"}, std::move(submissions), take);
  w.run(1s);
  for (const ActionResult& each : got->value()) ASSERT_EQ(each.status.message(), "");
  const std::string reason(1'000, 'r');
  const auto refused = [&](const std::string& user, v1::JobAction action) {
    actions.control_jobs({.trusted_user = user}, jobs, action,
                         action == v1::JOB_ACTION_HOLD ? reason : "", take);
    w.run(1s);
    return std::ranges::count_if(got->value(), [](const ActionResult& each) {
      return each.status.code() == Code::resource_exhausted;
    });
  };
  int rounds = 0;
  while (rounds < 1'000 && refused("bob", v1::JOB_ACTION_HOLD) == 0 &&
         refused("bob", v1::JOB_ACTION_RELEASE) == 0) {
    ++rounds;
  }
  EXPECT_GT(rounds, 200) << "256 MiB: nobody comes so far with work";
  EXPECT_LT(rounds, 400) << "some comes back meanwhile";
  EXPECT_THAT(got->value().back().status.message(), HasSubstr("bob has had 256 MiB stored"));
  EXPECT_EQ(refused("ann", v1::JOB_ACTION_HOLD), 0) << "who operates the cluster goes on";
}

// A move past many jobs stores an event for each.
TEST_F(ActionsOfMany, MovesOfOnePersonCountByTheJobsTheyMove) {
  auto leader = w.leader("a");
  w.connect(*leader, 1, "node-1");
  send(*leader, SetUser{{.name = "bob"}});
  w.run(1s);
  Actions actions(leader->controller);
  constexpr int kJobs = 5'000;
  std::optional<Results> got;
  for (int made = 0; made < kJobs; made += 500) {
    std::vector<Submission> submissions(500);
    for (size_t i = 0; i < submissions.size(); ++i)
      submissions[i].spec = job(fmt::format("j{}-{}", made, i)).gpus(8).spec();
    actions.submit_jobs({.trusted_user = "bob"}, std::move(submissions),
                        [&got](Results results) { got = std::move(results); });
    w.run(1s);
    for (const ActionResult& each : got->value()) ASSERT_EQ(each.status.message(), "");
  }
  Status status;
  const auto move = [&](int id, MoveJob::To to, const std::string& other) {
    actions.move_job({.trusted_user = "bob"}, MoveJob{std::to_string(id), to, other},
                     [&](const Result<CommandReply>& reply) { status = reply.status(); });
    w.run(100ms);
    return status.code();
  };
  // Of neighbours it is next to nothing: a share for whole moves would be 279 of them.
  for (int i = 0; i < 300; ++i)
    ASSERT_EQ(move(kJobs, MoveJob::To::before, std::to_string(kJobs - 1)), Code::ok) << i;
  int moves = 0;
  while (moves < 1'000 && move(kJobs - moves, MoveJob::To::first, "") == Code::ok) ++moves;
  EXPECT_GT(moves, 250);
  EXPECT_LT(moves, 350) << "some comes back meanwhile";
  EXPECT_THAT(status.message(), HasSubstr("bob has had 256 MiB stored"));
}

// Each task stores its own copy of the spec.
TEST_F(ActionsOfMany, TasksOfAnArrayCountEach) {
  auto leader = w.leader("a");
  w.connect(*leader, 1, "node-1");
  Actions actions(leader->controller);
  int taken = 0;
  for (int i = 0; i < 10; ++i) {
    Submission submission{.spec = job("array-" + std::to_string(i)).spec()};
    submission.spec.array = "0-255";
    for (const char* name : {"A", "B"})
      submission.spec.environments[name] = std::string(60'000, 'x');
    std::optional<Result<CommandReply>> got;
    actions.submit_job({.trusted_user = "ann"}, std::move(submission),
                       [&got](Result<CommandReply> reply) { got = std::move(reply); });
    w.run(1s);
    ASSERT_TRUE(got.has_value());
    taken += got->is_ok() ? 1 : 0;
  }
  EXPECT_EQ(taken, 4) << "a quarter of what she may have in large specs each";
}

// Refused ones and those that come again are stored once or not at all: they cost no more.
TEST_F(ActionsOfMany, OnlyWhatIsStoredCounts) {
  auto leader = w.leader("a");
  w.connect(*leader, 1, "node-1");
  Actions actions(leader->controller);
  const auto submit_large = [&](const std::string& name, const std::string& request) {
    Submission submission{.spec = job(name).spec(), .request_id = request};
    for (const char* variable : {"A", "B", "C", "D"}) {
      submission.spec.environments[variable] = std::string(62'500, 'x');
    }
    std::optional<Result<CommandReply>> got;
    actions.submit_job({.trusted_user = "ann"}, std::move(submission),
                       [&got](Result<CommandReply> reply) { got = std::move(reply); });
    w.run(1s);
    EXPECT_TRUE(got.has_value());
    return got ? got->status() : Status(Code::internal, "no answer");
  };
  const Status first = submit_large("large", "r");
  ASSERT_TRUE(first.is_ok()) << first.message();
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(submit_large("large", "r").is_ok()) << i;
    ASSERT_EQ(submit_large("large", "").code(), Code::already_exists) << i;
  }
  EXPECT_TRUE(submit_large("another", "").is_ok());
}

TEST_F(ActionsOfMany, AreAnsweredOneByOneByTheLeader) {
  auto leader = w.leader("a");
  w.connect(*leader, 1, "node-1");
  submit(*leader, job("j"));
  const Results results = stop(*leader, {"1", "2"});
  ASSERT_TRUE(results.is_ok());
  ASSERT_EQ(results.value().size(), 2u);
  EXPECT_TRUE(results.value()[0].status.is_ok());
  EXPECT_EQ(results.value()[1].status.code(), Code::not_found);
}

}  // namespace
}  // namespace hai::test
