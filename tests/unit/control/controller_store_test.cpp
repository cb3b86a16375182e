// Nothing is told to anybody before it is durable.

#include <numeric>

#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

TEST(Durability, ACommandIsAnsweredWhenItIsWritten) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.latency = 20ms;
  auto answer = submit(*a, job("j"));
  w.run(9ms);
  EXPECT_TRUE(w.database.jobs().empty()) << "still on its way to the database";
  w.run(2ms);
  EXPECT_EQ(w.database.jobs().size(), 1u);
  EXPECT_FALSE(answer->reply.has_value()) << "the server does not know yet";
  w.run(10ms);
  EXPECT_TRUE(answer->is_ok());
}

TEST(Durability, AnOrderLeavesWhenItsReasonIsWritten) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  int launches = 0;
  a->agents.on_send = [&](const AgentOrder& order) {
    const auto* launch = std::get_if<LaunchRank>(&order.body);
    if (launch == nullptr) return;
    ++launches;
    const Job& row = w.database.jobs().at(launch->key.job);
    EXPECT_EQ(row.attempt_number(), launch->key.attempt);
  };
  w.latency = 10ms;
  submit(*a, job("j"));
  w.run(1s);
  EXPECT_EQ(launches, 1);
}

TEST(Durability, InputsThatGatherShareOneAppend) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.latency = 10ms;
  submit(*a, job("first"));
  w.run(1ms);
  int64_t turns = a->controller.stats().turns;
  std::vector<std::shared_ptr<Answer>> answers;
  for (int i = 0; i < 50; ++i) answers.push_back(submit(*a, job(fmt::format("j{}", i))));
  w.run(25ms);
  for (const auto& answer : answers) EXPECT_TRUE(answer->is_ok());
  EXPECT_LE(a->controller.stats().turns - turns, 2);
}

TEST(Durability, ATurnTakesAtMostABatch) {
  ControllerWorld w;
  w.knobs.append_batch_max = 10;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.latency = 10ms;
  std::vector<std::shared_ptr<Answer>> answers;
  for (int i = 0; i < 25; ++i) answers.push_back(submit(*a, job(fmt::format("j{}", i))));
  w.run(11ms);
  EXPECT_EQ(std::ranges::count_if(answers, [](const auto& each) { return each->is_ok(); }), 10);
  w.run(20ms);
  EXPECT_EQ(std::ranges::count_if(answers, [](const auto& each) { return each->is_ok(); }), 25);
}

// However many come at once: they were all one turn.
TEST(Durability, MovesPastThousandsOfJobsAreManyTurns) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  constexpr int kJobs = 4'000;
  for (int i = 0; i < kJobs; ++i) submit(*a, job(fmt::format("j{}", i)).gpus(8));
  w.run(1s);
  const ControllerStats before = a->controller.stats();
  w.latency = 10ms;
  std::vector<std::shared_ptr<Answer>> answers;
  for (int i = 1; i <= 20; ++i)
    answers.push_back(send(*a, MoveJob{fmt::format("j{}", kJobs - i), MoveJob::To::first}));
  w.run(9ms);
  EXPECT_LE(a->controller.stats().events - before.events, 10'000 + kJobs);
  w.run(1s);
  for (const auto& answer : answers) EXPECT_TRUE(answer->is_ok());
  EXPECT_GT(a->controller.stats().events - before.events, 20 * (kJobs - 100));
  EXPECT_GE(a->controller.stats().turns - before.turns, 20 * kJobs / 15'000);
}

// What 250 of them store was one append, of 60 MB.
TEST(Durability, LargeSubmitsAreManyTurns) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  const ControllerStats before = a->controller.stats();
  std::vector<std::shared_ptr<Answer>> answers;
  for (int i = 0; i < 250; ++i) {
    JobBuilder each = job(fmt::format("j{}", i));
    answers.push_back(submit(*a, each.environment("LARGE", std::string(256 << 10, 'x'))));
  }
  w.run(2s);
  for (const auto& answer : answers) EXPECT_TRUE(answer->is_ok());
  EXPECT_GE(a->controller.stats().turns - before.turns, 250 / 17);
}

// Commands that change nothing cost time all the same: of thousands of them a turn ends in time.
TEST(Durability, ATurnTakesOnlyAPartOfTheLease) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.decide_with([](const Decision& decision) {
    EXPECT_TRUE(Turns::has_room(decision, 249ms, 2s));
    EXPECT_FALSE(Turns::has_room(decision, 250ms, 2s));
  });
}

TEST(Durability, ReportsDoNotTakeAllTimeOfATurn) {
  ControllerWorld w;
  SlowLoop loop(w.timeline);
  VirtualLoop store_loop(w.timeline);
  MemStore store(store_loop, w.database, "a");
  FakeAgents agents(w.timeline);
  Controller controller(loop, store, agents, nullptr, w.knobs, w.bootstrap, "test");
  controller.start();
  w.run(1s);
  ASSERT_TRUE(controller.is_leading());
  constexpr int kNodes = 300;
  for (int i = 1; i <= kNodes; ++i) {
    AgentReport report{.node = fmt::format("node-{}", i), .sequence = 1};
    report.facts = NodeFacts{.name = report.node, .group = "training", .gpus = 8};
    controller.agent_connected(ConnectionId{i}, report.node);
    controller.agent_report(ConnectionId{i}, report);
  }
  w.run(1s);
  w.latency = 10ms;
  loop.per_look = 1ms;  // so that each input takes time
  for (int i = 1; i <= kNodes; ++i) controller.agent_report(ConnectionId{i}, {.sequence = 2});
  const int64_t before = controller.stats().turns;
  int64_t answered_by = 0;  // turns
  controller.submit({.trusted_user = "ann"}, SubmitJob{job("j").spec(), ""},
                    [&](const Result<CommandReply>&) { answered_by = controller.stats().turns; });
  w.run(1s);
  EXPECT_EQ(answered_by, before + 1);
  EXPECT_GT(controller.stats().turns, before + 2) << "there were more reports than a turn takes";
}

TEST(Durability, WhatIsRemovedIsRemovedInTheStore) {
  ControllerWorld w;
  auto a = w.leader();
  send(*a, SetUser{.user = {.name = "bob"}});
  send(*a, SetQuota{{"bob", "training", Priority::high, 3}});
  send(*a, SetQuota{{"bob", "dev", Priority::high, 4}});
  w.run(1s);
  auto removed = send(*a, RemoveQuota{{"bob", "training", Priority::high, 0}});
  w.run(1s);
  ASSERT_TRUE(removed->is_ok());
  a.reset();
  auto b = w.server("b");
  b->controller.start();
  w.run(10s);
  ASSERT_TRUE(b->controller.is_leading());
  const ClusterState& state = b->controller.state();
  const User& bob = *state.find_user("bob");
  EXPECT_EQ(state.quota_nodes(bob, "training", Priority::high), Quota::kUnlimited) << "public's";
  EXPECT_EQ(state.quota_nodes(bob, "dev", Priority::high), 4);
}

// What metrics show.
TEST(Stats, CountAppendsByHowLongTheyTook) {
  ControllerWorld w;
  w.knobs.server_lease = 1min;
  auto a = w.leader();
  const ControllerStats before = a->controller.stats();
  for (const auto& [latency, bucket] : {std::pair(15ms, 4), {20ms, 4}, {21ms, 5}, {3000ms, 9}}) {
    w.latency = latency;
    const ControllerStats earlier = a->controller.stats();
    send(*a, SetQuota{{"ann", "dev", Priority::low, latency.count()}});
    for (int i = 0; i < 5'000 && a->controller.stats().appends_total == earlier.appends_total;
         ++i) {
      w.run(1ms);
    }
    const ControllerStats& now = a->controller.stats();
    EXPECT_EQ(now.last_append, latency);
    EXPECT_EQ(now.appends_total, earlier.appends_total + latency);
    EXPECT_EQ(now.appends[bucket], earlier.appends[bucket] + 1) << latency;
    EXPECT_EQ(std::accumulate(now.appends.begin(), now.appends.end(), int64_t{0}),
              std::accumulate(earlier.appends.begin(), earlier.appends.end(), int64_t{0}) + 1);
    w.latency = 0s;
    w.run(5s);
  }
  const ControllerStats& after = a->controller.stats();
  EXPECT_GT(after.passes, before.passes);
  EXPECT_EQ(std::accumulate(after.pass_lengths.begin(), after.pass_lengths.end(), int64_t{0}),
            after.passes);
  EXPECT_EQ(after.pass_lengths[0], after.passes) << "virtual time stands still in a pass";
}

TEST(FailedAppend, IsAnsweredUnavailableAndForgotten) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.fault = MemFault::fail_before;
  auto answer = submit(*a, job("j").request("r"));
  w.run(10ms);
  EXPECT_EQ(answer->code(), Code::unavailable);
  EXPECT_FALSE(a->controller.is_leading());
  EXPECT_THAT(a->agents.closed, ::testing::Contains(::testing::Pair(1, HasSubstr("append"))));
  w.run(5s);
  ASSERT_TRUE(a->controller.is_leading()) << "it reloads and goes on";
  EXPECT_EQ(a->controller.state().find_unfinished("ann", "j"), nullptr);
  EXPECT_TRUE(submit(*a, job("other"))->reply == std::nullopt);
  w.run(1s);
}

TEST(FailedAppend, ThatWasWrittenAllTheSameIsFoundAgainByItsRequest) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.fault = MemFault::fail_after;
  auto answer = submit(*a, job("j").request("r"));
  w.run(5s);
  EXPECT_EQ(answer->code(), Code::unavailable);
  auto again = submit(*a, job("j").request("r"));
  w.run(1s);
  ASSERT_TRUE(again->is_ok());
  EXPECT_EQ(again->reply->value().message, "submitted before");
  EXPECT_EQ(w.database.jobs().size(), 1u);
}

TEST(FailedAppend, RefusesWhatWaitsBehindIt) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.latency = 10ms;
  w.fault = MemFault::fail_before;
  auto first = submit(*a, job("first"));
  w.run(1ms);
  auto behind = submit(*a, job("behind"));
  w.run(30ms);
  EXPECT_EQ(first->code(), Code::unavailable);
  EXPECT_EQ(behind->code(), Code::unavailable);
}

TEST(FailedLoad, IsTriedAgain) {
  ControllerWorld w;
  auto a = w.server("a");
  int requests = 0;
  w.database.hooks.fault = [&] {
    return ++requests == 2 ? MemFault::fail_before : MemFault::ok;  // acquire, load
  };
  a->controller.start();
  w.run(5s);
  EXPECT_TRUE(a->controller.is_leading());
}

TEST(Reading, SeesOnlyWhatIsDurable) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.latency = 20ms;
  submit(*a, job("j"));
  int seen = -1;
  a->controller.read(
      {.trusted_user = "ann"},
      [&](const Controller::ReadContext& context, const Actor& actor) {
        EXPECT_EQ(actor.user, "ann");
        seen = static_cast<int>(context.state.jobs().size());
        EXPECT_EQ(w.database.jobs().size(), context.state.jobs().size());
      },
      [](Status) { FAIL(); });
  w.run(19ms);
  EXPECT_EQ(seen, -1);
  w.run(2ms);
  EXPECT_EQ(seen, 1);
}

TEST(Reading, IsRefusedWhenTheStateTurnsOutNotToBeDurable) {
  ControllerWorld w;
  auto a = w.leader();
  w.connect(*a, 1, "node-1");
  w.fault = MemFault::abort;  // another server leads: what is known here is old
  submit(*a, job("j"));
  Code code = Code::ok;
  a->controller.read(
      {.trusted_user = "ann"}, [](const Controller::ReadContext&, const Actor&) { FAIL(); },
      [&](Status status) { code = status.code(); });
  w.run(10ms);
  EXPECT_EQ(code, Code::unavailable);
}

TEST(Reading, NeedsAKnownCaller) {
  ControllerWorld w;
  auto a = w.leader();
  Code code = Code::ok;
  a->controller.read(
      {.token_hash = "x"}, [](const Controller::ReadContext&, const Actor&) { FAIL(); },
      [&](Status status) { code = status.code(); });
  w.run(10ms);
  EXPECT_EQ(code, Code::unauthenticated);
}

TEST(Inbox, IsBounded) {
  ControllerWorld w;
  auto a = w.leader();
  w.latency = 1s;
  int refused = 0;
  for (int i = 0; i < 200'010; ++i) {
    a->controller.submit({.trusted_user = "ann"}, ResumeJob{"1"}, [&](Result<CommandReply> reply) {
      refused += reply.status().code() == Code::resource_exhausted;
    });
  }
  w.run(1ms);
  EXPECT_EQ(refused, 10);
}

}  // namespace
}  // namespace hai::test
