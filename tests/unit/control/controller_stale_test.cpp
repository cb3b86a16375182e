// A leader whose store has gone away: it decides nothing, and shows what was durable.

#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

struct Seen {
  int answers = 0;
  int refusals = 0;
  std::string refusal;
  std::vector<std::string> jobs;
  std::map<std::string, std::string> why_waiting;
  std::optional<UnixTime> stale_since;
};

std::shared_ptr<Seen> look(Server& server) {
  auto seen = std::make_shared<Seen>();
  server.controller.read(
      {.trusted_user = "ann"},
      [seen](const Controller::ReadContext& context, const Actor&) {
        ++seen->answers;
        seen->stale_since = context.stale_since;
        for (const auto& [id, job] : context.state.jobs()) {
          seen->jobs.push_back(job.spec->name + " " + std::string(to_string(job.state)));
          if (!job.is_waiting()) continue;
          seen->why_waiting[job.spec->name] = waiting_reason(context.state, job, context.soft).text;
        }
      },
      [seen](const Status& why) {
        ++seen->refusals;
        seen->refusal = why.message();
      });
  return seen;
}

class StaleReads : public ::testing::Test {
 protected:
  StaleReads() {
    leader = w.leader();
    w.connect(*leader, 1, "node-1");
    submit(*leader, job("kept"));
    w.run(100ms);
  }
  void cut() {
    w.database.hooks.fault = [] { return MemFault::fail_before; };
  }
  void heal() { w.database.hooks.fault = nullptr; }

  ControllerWorld w;
  std::unique_ptr<Server> leader;
};

TEST_F(StaleReads, AreAnsweredWhileTheStoreIsAwayAndNotAfterwards) {
  EXPECT_EQ(look(*leader)->stale_since, std::nullopt);
  const UnixTime before = leader->loop.wall_now();
  cut();
  w.run(5s);
  ASSERT_FALSE(leader->controller.is_leading());
  auto stale = look(*leader);
  w.run(1ms);
  ASSERT_EQ(stale->answers, 1);
  ASSERT_TRUE(stale->stale_since.has_value());
  EXPECT_NEAR(static_cast<double>((*stale->stale_since - before).count()), 0, 1e6);
  EXPECT_EQ(stale->jobs, std::vector<std::string>{"kept queued"});
  EXPECT_TRUE(leader->controller.standing().store_is_away);
  heal();
  w.run(3s);
  ASSERT_TRUE(leader->controller.is_leading());
  auto fresh = look(*leader);
  w.run(100ms);
  EXPECT_EQ(fresh->answers, 1);
  EXPECT_EQ(fresh->stale_since, std::nullopt);
  EXPECT_EQ(leader->controller.standing().stale_since, std::nullopt);
  EXPECT_EQ(leader->controller.store_unavailable(), Duration{0});
}

TEST_F(StaleReads, DoNotShowWhatAnAppendInFlightHasChanged) {
  w.latency = 20ms;
  submit(*leader, job("unknown"));
  send(*leader, StopJob{"kept", ""});
  w.run(5ms);
  ASSERT_NE(leader->controller.state().find_unfinished("ann", "unknown"), nullptr);
  w.fault = MemFault::fail_after;  // it was written, but who knows
  cut();
  w.run(30ms);
  auto stale = look(*leader);
  w.run(1ms);
  EXPECT_EQ(stale->jobs, std::vector<std::string>{"kept queued"});
}

// The planner knows the nodes as the undone events had left them, which is no reason for anything.
TEST_F(StaleReads, GiveNoReasonsOfWhatIsUndone) {
  submit(*leader, job("waits"));
  w.run(100ms);
  auto fresh = look(*leader);
  w.run(1ms);
  EXPECT_THAT(fresh->why_waiting["waits"], HasSubstr("0 of 1 open node can give that now"));
  w.latency = 20ms;
  submit(*leader, job("unknown"));
  w.run(5ms);
  cut();
  w.run(30ms);
  auto stale = look(*leader);
  w.run(1ms);
  ASSERT_TRUE(stale->stale_since.has_value());
  EXPECT_EQ(stale->why_waiting["waits"], "the next planning pass will look at it");
}

TEST_F(StaleReads, AnswerReadersThatWaitedForTheStore) {
  w.latency = 20ms;
  submit(*leader, job("unknown"));
  w.run(5ms);
  auto waiting = look(*leader);
  cut();
  w.run(100ms);
  EXPECT_EQ(waiting->answers, 1);
  EXPECT_TRUE(waiting->stale_since.has_value());
}

TEST_F(StaleReads, AWriteIsToldWhetherItMayHaveBeenDone) {
  w.latency = 20ms;
  auto in_flight = submit(*leader, job("in-flight"));
  w.run(5ms);
  auto behind = submit(*leader, job("behind"));
  cut();
  w.run(50ms);
  auto after = submit(*leader, job("after"));
  w.run(5ms);
  EXPECT_EQ(in_flight->code(), Code::unavailable);
  EXPECT_THAT(std::string(in_flight->reply->status().message()),
              HasSubstr("may or may not have been done"));
  for (const auto& answer : {behind, after}) {
    EXPECT_EQ(answer->code(), Code::unavailable);
    EXPECT_THAT(std::string(answer->reply->status().message()),
                HasSubstr("the database cannot be reached"));
    EXPECT_THAT(std::string(answer->reply->status().message()), HasSubstr("nothing was changed"));
  }
}

TEST_F(StaleReads, EndWhenAnotherServerLeads) {
  auto other = w.server("b");
  other->controller.start();
  w.run(100ms);
  leader->loop.pause(4s);
  w.run(6s);
  ASSERT_TRUE(other->controller.is_leading());
  auto seen = look(*leader);
  w.run(1ms);
  EXPECT_EQ(seen->answers, 0);
  EXPECT_THAT(seen->refusal, HasSubstr("does not lead"));
}

TEST_F(StaleReads, BeginSoonWhenTheStoreHangs) {
  w.latency = 1h;
  submit(*leader, job("unknown"));
  w.run(100ms);
  auto waiting = look(*leader);
  w.run(w.knobs.server_lease * 2 + 2s);
  EXPECT_EQ(waiting->answers, 1);
  EXPECT_FALSE(leader->controller.is_leading());
  EXPECT_EQ(waiting->jobs, std::vector<std::string>{"kept queued"});
}

TEST_F(StaleReads, AServerThatNeverLedHasNothingToShow) {
  cut();
  auto other = w.server("b");
  other->controller.start();
  w.run(1s);
  auto seen = look(*other);
  w.run(1ms);
  EXPECT_THAT(seen->refusal, HasSubstr("the database cannot be reached"));
}

}  // namespace
}  // namespace hai::test
