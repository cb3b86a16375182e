// What an agent's report brings about.

#include "server/control/nodes/decide_report.h"

#include "server/model/invariants.h"
#include "tests/unit/control/agent_reports.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Report, BringsAGangUpWhenTheLastRankRuns) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.place(job("j").nodes(2), {"node-1", "node-2"});
  FakeAgent one(c, "node-1");
  FakeAgent two(c, "node-2");
  EXPECT_THAT(one.report({starting({id, 1, 0})}), ElementsAre("attempt_starting"));
  EXPECT_THAT(one.report({running({id, 1, 0})}), ElementsAre("rank_running"));
  EXPECT_EQ(c.job(id).state, JobState::queued);
  EXPECT_THAT(two.report({running({id, 1, 1})}), ElementsAre("rank_running", "attempt_running"));
  EXPECT_EQ(c.job(id).state, JobState::running);
  EXPECT_THAT(two.report({running({id, 1, 1})}), IsEmpty()) << "saying it again is no news";
}

TEST(Report, OfAProgramThatEndedAtOnceCountsAsRun) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.place(job("j"), {"node-1"});
  FakeAgent agent(c, "node-1");
  agent.report({exited({id, 1, 0}, ExitCause::program, 0)});
  EXPECT_EQ(c.job(id).state, JobState::succeeded);
  EXPECT_EQ(c.job(id).started_at, c.now);
}

// Found by tests/e2e/chaos: a node with a full disk was always free, and each waiting job failed
// there three times within a second.
TEST(Report, OfARankThatTheNodeCouldNotStartKeepsOthersAway) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.place(job("j"), {"node-1"});
  FakeAgent agent(c, "node-1");
  RankStatus status = exited({id, 1, 0}, ExitCause::lost);
  status.message = "no space left on device";
  agent.report({status});
  EXPECT_EQ(c.attempt(id).state, AttemptState::lost);
  EXPECT_EQ(c.job(id).state, JobState::queued);
  EXPECT_EQ(c.job(id).launch_failures, 0) << "it is not the job's fault";
  EXPECT_EQ(c.node("node-1").liveness, Liveness::suspect);
  EXPECT_EQ(c.node("node-1").liveness_reason, "a rank could not start: no space left on device");
  c.advance(9s);
  EXPECT_THAT(agent.report({}), IsEmpty());
  c.advance(1s);
  EXPECT_THAT(agent.report({}), ElementsAre("node_liveness_changed"));
  EXPECT_EQ(c.node("node-1").liveness, Liveness::up) << "it is tried again";
}

TEST(Report, OfUnknownOrOldRanksChangesNothing) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  FakeAgent wrong_node(c, "node-2");
  for (RankKey key : {RankKey{id, 1, 0}, RankKey{id, 2, 0}, RankKey{id, 1, 1}, RankKey{id, 1, -1},
                      RankKey{JobId{99}, 1, 0}, RankKey{JobId{-1}, 0, 0}}) {
    EXPECT_THAT(wrong_node.report({exited(key, ExitCause::program, 1)}), IsEmpty())
        << to_string(key);
  }
  EXPECT_TRUE(c.attempt(id).is_live());
}

TEST(Report, WithoutARankThatRanMeansItIsLost) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  FakeAgent agent(c, "node-1");
  agent.report({});
  EXPECT_EQ(c.attempt(id).state, AttemptState::lost);
  EXPECT_EQ(c.job(id).counters.requeue_count, 1);
}

TEST(Report, WithoutARankThatIsOnItsWayMeansNothing) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.place(job("j"), {"node-1"});
  FakeAgent agent(c, "node-1");
  EXPECT_THAT(agent.report({}), IsEmpty());
  EXPECT_EQ(c.attempt(id).state, AttemptState::placed);
}

TEST(Report, OfARankGivenUpForLostDoesNotReviveIt) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
  c.decide_with([](Decision& decision) { decide_node_down(decision, NodeId{1}, "silent"); });
  FakeAgent agent(c, "node-1");
  EXPECT_THAT(agent.report({running({id, 1, 0})}), ElementsAre("node_liveness_changed"));
  EXPECT_EQ(c.attempt(id).ranks[0].state, RankState::lost);
  EXPECT_EQ(c.node("node-1").liveness, Liveness::suspect) << "a stray is on its GPUs";
  EXPECT_EQ(c.node("node-1").liveness_reason, "1 rank of ended attempts still there");
  EXPECT_THAT(agent.report({running({id, 1, 0})}), IsEmpty());
  agent.report({running({id, 1, 0}), running({JobId{77}, 1, 0})});
  EXPECT_EQ(c.node("node-1").liveness_reason, "2 ranks of ended attempts still there");
  agent.report({exited({id, 1, 0}, ExitCause::killed)});
  EXPECT_EQ(c.node("node-1").liveness, Liveness::up);
}

TEST(Report, MakesASilentNodeUpAgain) {
  for (Liveness before : {Liveness::suspect, Liveness::down}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    c.set_liveness("node-1", before);
    FakeAgent agent(c, "node-1");
    agent.report({});
    EXPECT_EQ(c.node("node-1").liveness, Liveness::up);
    EXPECT_EQ(c.node("node-1").liveness_reason, "");
  }
}

int64_t units_used(const Cluster& c, JobId id) {
  const Job& job = c.job(id);
  return c.state().used_node_units(job.user, job.spec->group, c.attempt(id).priority);
}

TEST(EarlyRelease, GivesTheNodeOfARankThatIsDoneToTheNext) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = c.run(job("gang").nodes(2).release_early(), {"node-1", "node-2"});
  const JobId next = c.submit(job("next"));
  FakeAgent one(c, "node-1");
  FakeAgent two(c, "node-2");
  c.advance(1h);
  EXPECT_THAT(two.report({exited({id, 1, 1}, ExitCause::program, 0)}), ElementsAre("rank_ended"));
  EXPECT_EQ(c.attempt(id).ranks[1].state, RankState::released);
  EXPECT_THAT(c.node("node-2").occupants, IsEmpty());
  EXPECT_EQ(c.job(id).state, JobState::running);
  EXPECT_EQ(units_used(c, id), ClusterState::kNodeUnit) << "its quota is free again, too";
  EXPECT_EQ(c.job(id).gpu_seconds, 8 * 3600);
  EXPECT_EQ(c.state().find_user("ann")->usage.gpu_seconds, 8 * 3600);
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
  c.pass();
  EXPECT_THAT(c.node("node-2").occupants, ElementsAre(Occupant{next, 0, GpuSet::first(8)}));

  c.set_liveness("node-2", Liveness::suspect);
  c.decide_with([](Decision& decision) { decide_node_down(decision, NodeId{2}, "silent"); });
  EXPECT_TRUE(c.attempt(id).is_live()) << "it has nothing there any more";
  c.advance(1h);
  one.report({exited({id, 1, 0}, ExitCause::program, 0)});
  EXPECT_EQ(c.job(id).state, JobState::succeeded);
  EXPECT_EQ(c.job(id).gpu_seconds, 8 * 3600 * 3) << "each rank as long as it ran";
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
}

TEST(EarlyRelease, IsOnlyForRanksThatAreDoneOfJobsThatSaySo) {
  struct Case {
    bool says_so;
    ExitCause cause;
    int code;
  };
  for (const Case& each : {Case{false, ExitCause::program, 0}, Case{true, ExitCause::program, 1},
                           Case{true, ExitCause::go_suspend, 0}}) {
    Cluster c = cluster(nodes(2, gpus(8)));
    JobBuilder gang = job("gang").nodes(2);
    if (each.says_so) gang.release_early();
    const JobId id = c.run(gang, {"node-1", "node-2"});
    FakeAgent(c, "node-2").report({exited({id, 1, 1}, each.cause, each.code)});
    EXPECT_EQ(c.attempt(id).ranks[1].state, RankState::exited);
    EXPECT_EQ(c.node("node-2").occupants.size(), 1u);
  }
}

TEST(EarlyRelease, OfAJobThatRunsAgainStartsAllRanksAgain) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = c.run(job("gang").nodes(2).release_early(), {"node-1", "node-2"});
  FakeAgent one(c, "node-1");
  c.advance(1h);
  FakeAgent(c, "node-2").report({exited({id, 1, 1}, ExitCause::program, 0)});
  c.advance(1h);
  one.report({});
  EXPECT_EQ(c.attempt(id).state, AttemptState::lost);
  EXPECT_EQ(c.job(id).gpu_seconds, 8 * 3600 * 3);
  EXPECT_EQ(c.job(id).counters.lost_gpu_seconds, 8 * 3600 * 2) << "what is done is not lost";
  c.pass();
  EXPECT_EQ(c.attempt(id).number, 2);
  EXPECT_EQ(c.node("node-1").occupants.size() + c.node("node-2").occupants.size(), 2u);
}

RankStatus with_checkpoint(RankStatus status, UnixTime at, int64_t step) {
  status.checkpoint = CheckpointInfo{
      .step = step, .path = fmt::format("ckpt-{}", step), .save_seconds = 1, .at = at};
  return status;
}

TEST(Checkpoints, TheNewestCounts) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
  FakeAgent one(c, "node-1");
  FakeAgent two(c, "node-2");
  c.advance(1h);
  one.report({with_checkpoint(running({id, 1, 0}), c.now - 10s, 5)});
  EXPECT_THAT(two.report({with_checkpoint(running({id, 1, 1}), c.now - 20s, 4)}), IsEmpty());
  EXPECT_EQ(c.job(id).checkpoint->path, "ckpt-5");
  EXPECT_THAT(one.report({with_checkpoint(running({id, 1, 0}), c.now - 10s, 5)}), IsEmpty());
  c.advance(1s);
  EXPECT_THAT(one.report({with_checkpoint(running({id, 1, 0}), c.now - 1s, 6)}),
              ElementsAre("checkpoint_reported"));
}

TEST(Checkpoints, AClockThatIsAheadDoesNotFreezeThem) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  FakeAgent agent(c, "node-1");
  RankStatus wrong = with_checkpoint(running({id, 1, 0}), c.now + 24h, 5);
  agent.report({wrong});
  EXPECT_EQ(c.job(id).checkpoint->at, c.now);
  c.advance(5s);
  EXPECT_THAT(agent.report({wrong}), IsEmpty()) << "the same again is no news";
  agent.report({with_checkpoint(running({id, 1, 0}), c.now, 6)});
  EXPECT_EQ(c.job(id).checkpoint->path, "ckpt-6");
}

// A clock that is ahead by a moment: each checkpoint is taken once as of now and once more when the
// server's clock has passed what it says, so that checkpoint_gap becomes that moment and nobody
// waits for a checkpoint that is due. The simulator's clocks do it for every checkpoint.
TEST(Checkpoints, OfAClockThatIsALittleAheadAreNoNewsLater) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  FakeAgent agent(c, "node-1");
  c.advance(10min);
  RankStatus status = with_checkpoint(running({id, 1, 0}), c.now + 100ms, 5);
  EXPECT_THAT(agent.report({status}), ElementsAre("checkpoint_reported"));
  c.advance(5s);
  EXPECT_THAT(agent.report({status}), IsEmpty()) << "the same again is no news";
}

TEST(Checkpoints, OfTheReportThatEndsTheRankCount) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "asked"});
  FakeAgent agent(c, "node-1");
  agent.report({with_checkpoint(exited({id, 1, 0}, ExitCause::go_suspend), c.now, 9)});
  EXPECT_EQ(c.job(id).checkpoint->step, 9);
  EXPECT_EQ(c.job(id).counters.lost_gpu_seconds, 0);
}

TEST(LifeState, IsKeptWhenItChanges) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  FakeAgent agent(c, "node-1");
  RankStatus status = running({id, 1, 0});
  status.whole_life_state = "{\"epoch\":3}";
  EXPECT_THAT(agent.report({status}), ElementsAre("life_state_set"));
  EXPECT_THAT(agent.report({status}), IsEmpty());
  EXPECT_EQ(c.job(id).whole_life_state, "{\"epoch\":3}");
}

RankStatus with_life_state(RankStatus status, std::string state) {
  status.whole_life_state = std::move(state);
  return status;
}

// One rank that set its state in a loop wrote half a gigabyte in 30 s.
TEST(LifeState, OfAProgramThatSpeaksInALoopIsTakenNowAndThen) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  FakeAgent agent(c, "node-1");
  size_t events = 0;
  for (int i = 0; i < 10'000; ++i) {
    RankStatus status = with_life_state(running({id, 1, 0}), std::to_string(i));
    events += agent.report({with_checkpoint(status, c.now, i)}).size();
    c.advance(1ms);
  }
  EXPECT_EQ(events, 20) << "one of each kind a second, in 10 s";
  c.advance(5s);
  agent.report({with_life_state(running({id, 1, 0}), "9999")});
  EXPECT_EQ(c.job(id).whole_life_state, "9999") << "the last word counts";
}

TEST(LifeState, OfAUserWithManyProgramsThatSpeakInALoopIsTakenNowAndThen) {
  constexpr int kNodes = 100;
  Cluster c = cluster(nodes(kNodes + 1, gpus(8)));
  c.add_user("bob");
  const auto paid = std::make_shared<WordsPaid>();
  std::vector<std::pair<JobId, FakeAgent>> programs;
  for (int i = 1; i <= kNodes; ++i) {
    const std::string node = fmt::format("node-{}", i);
    programs.emplace_back(c.run(job(fmt::format("j{}", i)), {node}), FakeAgent(c, node));
    programs.back().second.session.words_paid = paid;
  }
  const auto speak = [&](const std::string& word) {
    size_t events = 0;
    for (auto& [id, agent] : programs) {
      events += agent.report({with_life_state(running({id, 1, 0}), word)}).size();
    }
    return events;
  };
  size_t events = 0;
  for (int second = 0; second < 100; ++second) {
    events += speak(std::to_string(second));
    c.advance(1s);
  }
  EXPECT_EQ(events, 1'000 + 20 * 99) << "and not 10,000";
  const std::string last = fmt::format("node-{}", kNodes + 1);
  const JobId other = c.run(job("other").user("bob"), {last});
  FakeAgent agent(c, last);
  agent.session.words_paid = paid;
  agent.report({with_life_state(running({other, 1, 0}), "here")});
  EXPECT_EQ(c.job(other).whole_life_state, "here") << "others are heard all the same";
  for (int second = 0; second < 10; ++second) {
    c.advance(1s);
    speak("done");
  }
  for (const auto& [id, each] : programs) EXPECT_EQ(c.job(id).whole_life_state, "done");
}

TEST(LifeState, OfManyBytesIsTakenRarely) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  FakeAgent agent(c, "node-1");
  size_t events = 0;
  for (int second = 0; second < 650; ++second) {
    events += agent.report({with_life_state(running({id, 1, 0}), fmt::format("{:>65536}", second))})
                  .size();
    c.advance(1s);
  }
  EXPECT_EQ(events, 10) << "64 KiB each 65 s";
  agent.report({with_life_state(exited({id, 1, 0}, ExitCause::program), "bye")});
  EXPECT_EQ(c.job(id).whole_life_state, "bye") << "what it says last is taken at once";
}

TEST(LifeState, OfRanksThatDifferIsThatOfTheLastWhoSpoke) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.run(job("j").nodes(2), {"node-1", "node-2"});
  FakeAgent one(c, "node-1");
  FakeAgent two(c, "node-2");
  const RankStatus a = with_life_state(running({id, 1, 0}), "a");
  const RankStatus b = with_life_state(running({id, 1, 1}), "b");
  one.report({a});
  two.report({b});
  for (int i = 0; i < 10; ++i) {
    c.advance(5s);
    EXPECT_THAT(one.report({a}), IsEmpty()) << "saying it again is no news";
    EXPECT_THAT(two.report({b}), IsEmpty());
  }
  EXPECT_EQ(c.job(id).whole_life_state, "b");
}

// ---- registration

struct Registration {
  Cluster c = cluster(nodes(1, gpus(8)));
  Sessions sessions;

  Status enter(const std::string& stream, std::optional<NodeFacts> facts) {
    ConnectionId connection{++next_};
    sessions.open(connection, stream);
    AgentReport report{.node = stream, .facts = std::move(facts)};
    return c.decide_with([&](Decision& decision) {
      return decide_registration(decision, sessions, *sessions.find(connection), report);
    });
  }
  NodeFacts facts(const std::string& name) {
    return {.name = name, .group = "training", .zone = "A", .leaf = "leaf-1", .gpus = 8};
  }
  int64_t next_ = 0;
};

TEST(Registration, GivesANewNodeTheNextId) {
  Registration r;
  ASSERT_TRUE(r.enter("new", r.facts("new")).is_ok());
  EXPECT_EQ(r.c.node_id("new"), NodeId{2});
  EXPECT_EQ(r.c.node("new").liveness, Liveness::suspect) << "until its report was looked at";
}

TEST(Registration, OfAKnownNodeWithTheSameFactsIsNoEvent) {
  Registration r;
  size_t before = r.c.events().size();
  ASSERT_TRUE(r.enter("node-1", r.c.node("node-1").facts).is_ok());
  EXPECT_EQ(r.c.events().size(), before);
}

TEST(Registration, FactsChangeWithANewConnectionOnly) {
  Registration r;
  const ConnectionId connection{7};
  r.sessions.open(connection, "node-1");
  AgentReport report{.node = "node-1", .facts = r.c.node("node-1").facts};
  const auto tell = [&] {
    return r.c.decide_with([&](Decision& decision) {
      return decide_registration(decision, r.sessions, *r.sessions.find(connection), report);
    });
  };
  ASSERT_TRUE(tell().is_ok());
  const size_t before = r.c.events().size();
  EXPECT_TRUE(tell().is_ok()) << "once more the same";
  report.facts->agent_version = "another";
  EXPECT_THAT(tell().message(), testing::HasSubstr("only with a new connection"));
  EXPECT_EQ(r.c.events().size(), before);
  EXPECT_TRUE(r.enter("node-1", report.facts).is_ok());
  EXPECT_EQ(r.c.node("node-1").facts.agent_version, "another");
}

TEST(Registration, RefusesFactsThatMakeNoSense) {
  Registration r;
  EXPECT_EQ(r.enter("a", std::nullopt).code(), Code::failed_precondition);
  EXPECT_EQ(r.enter("a", r.facts("b")).code(), Code::invalid_argument);
  EXPECT_EQ(r.enter("", r.facts("")).code(), Code::invalid_argument);
  NodeFacts facts = r.facts("a");
  facts.group = "";
  EXPECT_EQ(r.enter("a", facts).code(), Code::invalid_argument);
  for (int count : {-1, 65}) {
    facts = r.facts("a");
    facts.gpus = count;
    EXPECT_EQ(r.enter("a", facts).code(), Code::invalid_argument);
    EXPECT_EQ(r.enter("a", facts).message(),
              fmt::format("node a: gpus must be 0..64, is {}", count));
  }
}

TEST(Registration, RefusesAnotherNumberOfGpusWhileJobsAreOnIt) {
  Registration r;
  JobId id = r.c.run(job("j"), {"node-1"});
  NodeFacts facts = r.c.node("node-1").facts;
  facts.gpus = 4;
  Status status = r.enter("node-1", facts);
  EXPECT_EQ(status.code(), Code::failed_precondition);
  EXPECT_THAT(status.message(), HasSubstr("has 4 GPUs now and had 8"));
  r.c.finish(id);
  EXPECT_TRUE(r.enter("node-1", facts).is_ok());
  EXPECT_EQ(r.c.node("node-1").facts.gpus, 4);
}

TEST(Registration, AnotherGroupOrZoneWaitsUntilNoJobsAreOnIt) {
  Registration r;
  const JobId id = r.c.run(job("j"), {"node-1"});
  const NodeFacts before = r.c.node("node-1").facts;
  NodeFacts moved = before;
  moved.group = "debug";
  moved.zone = "Z";
  moved.leaf = "leaf-9";
  NodeFacts for_now = before;
  for_now.leaf = "leaf-9";
  EXPECT_TRUE(r.enter("node-1", moved).is_ok());
  EXPECT_EQ(r.c.node("node-1").facts, for_now);
  const auto report = [&](std::vector<RankStatus> ranks) {
    const AgentReport said{.node = "node-1", .ranks = std::move(ranks)};
    r.c.decide_with([&](Decision& decision) {
      decide_report(decision, *r.sessions.find(r.c.node_id("node-1")), said);
    });
  };
  report({{.key = {id, 1, 0}, .phase = RankPhase::running}});
  EXPECT_EQ(r.c.node("node-1").facts, for_now);
  r.c.finish(id);
  report({});
  EXPECT_EQ(r.c.node("node-1").facts, moved);
}

TEST(Registration, AnotherGroupIsNoMoveWhereAnOperatorHasSetIt) {
  Registration r;
  const NodeFacts told = r.c.node("node-1").facts;
  ASSERT_TRUE(r.c.decide(SetNode{"node-1", {.group = "debug", .zone = "Z"}}).is_ok());
  r.c.run(job("j").group("debug"), {"node-1"});
  EXPECT_TRUE(r.enter("node-1", told).is_ok()) << "its config is as it was";
  NodeFacts moved = told;
  moved.group = "other";
  moved.zone = "Y";
  EXPECT_TRUE(r.enter("node-1", moved).is_ok()) << "what is set counts";
  EXPECT_EQ(r.c.node("node-1").facts.group, "debug");
  EXPECT_EQ(r.c.node("node-1").facts.zone, "Z");
  EXPECT_EQ(r.c.node("node-1").told_facts().group, "other");
}

TEST(NodeDown, LosesEveryRankOnItAndFreesWholeAttempts) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId gang = c.run(job("gang").nodes(2).gpus(4), {"node-1", "node-2"}, GpuSet::first(4));
  JobId single = c.run(job("single").gpus(4), {"node-1"}, GpuSet{0xf0});
  c.decide_with([](Decision& decision) { decide_node_down(decision, NodeId{1}, "silent"); });
  EXPECT_EQ(c.node("node-1").liveness, Liveness::down);
  EXPECT_EQ(c.attempt(single).state, AttemptState::lost);
  EXPECT_TRUE(c.job(single).is_waiting());
  EXPECT_TRUE(c.attempt(gang).is_live()) << "rank 1 must be killed first";
  EXPECT_EQ(c.attempt(gang).end->outcome, AttemptState::lost);
  EXPECT_THAT(c.job(single).avoid, ElementsAre(NodeId{1}));
}

}  // namespace
}  // namespace hai::test
