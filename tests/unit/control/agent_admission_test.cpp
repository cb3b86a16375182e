// Two agents that bear one name: who may speak for the node.

#include "server/control/nodes/agent_admission.h"

#include "server/control/nodes/fencing.h"
#include "tests/unit/control/agent_reports.h"
#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

AgentIdentity agent(const std::string& instance, const std::string& machine = "",
                    const std::string& boot_id = "") {
  return {instance, machine, boot_id, "10.0.0." + std::to_string(instance.size())};
}

constexpr OwnerState kOwnerStates[] = {OwnerState::none, OwnerState::answers, OwnerState::silent,
                                       OwnerState::down};

TEST(MayTakeName, IsTheTable) {
  struct Row {
    std::string_view newcomer;
    AgentIdentity owner;
    AgentIdentity other;
    bool may_while_owner_is_there;  // answers, or is silent and not down
  };
  const std::vector<Row> rows = {
      {"the same agent", agent("a"), agent("a"), true},
      {"its process alone has started anew", agent("a", "m", "1"), agent("a", "m", "1"), true},
      {"its machine has started anew", agent("a", "m", "1"), agent("a", "m", "2"), true},
      {"its disk is in another machine", agent("a", "m", "1"), agent("a", "n", "2"), true},
      {"a machine without a disk has started anew", agent("a", "m", "1"), agent("b", "m", "2"),
       true},
      {"the owner is of an old version", agent("", "m", "1"), agent("b", "n", "2"), true},
      {"it is of an old version", agent("a", "m", "1"), agent("", "n", "2"), true},
      {"both are of an old version", agent(""), agent(""), true},
      {"another directory on the same machine", agent("a", "m", "1"), agent("b", "m", "1"), false},
      {"another machine", agent("a", "m", "1"), agent("b", "n", "2"), false},
      {"another machine, and nobody may read its id", agent("a", "", "1"), agent("b", "", "2"),
       false},
      {"one of which the machine is not known", agent("a", "m", "1"), agent("b", "", "2"), false},
      {"the same machine, but the owner's boot is not known", agent("a", "m", ""),
       agent("b", "m", "2"), false},
      {"the same machine, but its boot is not known", agent("a", "m", "1"), agent("b", "m", ""),
       false},
  };
  for (const Row& row : rows) {
    for (OwnerState state : kOwnerStates) {
      const bool owner_is_there = state == OwnerState::answers || state == OwnerState::silent;
      const bool expected = !owner_is_there || row.may_while_owner_is_there;
      EXPECT_EQ(may_take_name(row.owner, state, row.other), expected) << row.newcomer;
      EXPECT_EQ(may_take_name(row.other, state, row.owner), expected)
          << row.newcomer << ", the other way round";
    }
  }
}

// Every combination of known, equal and different ids.
TEST(MayTakeName, IsRefusedOnlyToWhoIsSurelyAnotherOne) {
  const std::vector<std::string> ids = {"", "x", "y"};
  int refused = 0;
  for (const std::string& a : ids)
    for (const std::string& b : ids)
      for (const std::string& m : ids)
        for (const std::string& n : ids)
          for (const std::string& s : ids)
            for (const std::string& t : ids)
              for (OwnerState state : kOwnerStates) {
                if (may_take_name(agent(a, m, s), state, agent(b, n, t))) continue;
                ++refused;
                EXPECT_TRUE(state == OwnerState::answers || state == OwnerState::silent);
                EXPECT_TRUE(!a.empty() && !b.empty() && a != b);
                EXPECT_FALSE(!m.empty() && m == n && !s.empty() && !t.empty() && s != t);
              }
  // Two states, two pairs of instances, 81 pairs of machines and boots less those of one machine
  // (two ids) that has started anew (two pairs).
  EXPECT_EQ(refused, 2 * 2 * (81 - 2 * 2));
}

class Admission : public ::testing::Test {
 protected:
  ControllerWorld w;
  std::unique_ptr<Server> a = w.leader("a");
  const AgentIdentity real = agent("real", "m1", "1");
  const AgentIdentity stranger = agent("stranger", "m2", "2");
  const RankKey key{JobId{1}, 1, 0};

  static NodeFacts facts_of(const AgentIdentity& identity) {
    return {.name = "node-1",
            .group = "training",
            .zone = "A",
            .leaf = "l",
            .address = identity.address,
            .gpus = 8,
            .boot_id = identity.boot_id,
            .instance = identity.instance,
            .machine = identity.machine};
  }
  void dial(int64_t connection, const AgentIdentity& identity, std::vector<RankStatus> ranks = {}) {
    a->controller.agent_connected(ConnectionId{connection}, "node-1", identity);
    AgentReport report{.node = "node-1", .sequence = 1, .ranks = std::move(ranks)};
    report.facts = facts_of(identity);
    a->controller.agent_report(ConnectionId{connection}, report);
    w.run(50ms);
  }
  // The real agent, with a rank of job 1 that runs.
  void run_job() {
    dial(1, real);
    submit(*a, job("j"));
    w.run(100ms);
    w.report(*a, 1, 2, {running(key)});
    ASSERT_EQ(attempt().state, AttemptState::running);
  }
  // The server fails over; nobody has dialled the new one yet.
  void fail_over() {
    a.reset();
    w.run(3s);
    a = w.leader("b");
  }
  const Attempt& attempt() { return *a->controller.state().find(JobId{1})->attempt; }
  const Node& node() { return *a->controller.state().find_node("node-1"); }
  bool is_in(int64_t connection) {
    for (const auto& [closed, why] : a->agents.closed)
      if (closed == connection) return false;
    return a->controller.soft_facts().sessions->all().contains(ConnectionId{connection});
  }
  std::vector<std::string> incidents() {
    std::vector<std::string> out;
    for (const auto& [id, incident] : a->controller.state().incidents())
      out.push_back(incident.kind + " " + incident.subject);
    return out;
  }
};

TEST_F(Admission, AStrangerIsRefusedWhileTheNodesAgentAnswersAndNothingIsLost) {
  run_job();
  dial(2, stranger);
  EXPECT_THAT(a->agents.closed,
              ElementsAre(Pair(2,
                               "the name node-1 belongs to the agent at 10.0.0.4 (instance "
                               "real), which answers; the agent at 10.0.0.8 (instance "
                               "stranger) is another one: give it a name of its own, or stop "
                               "the first one and wait until node-1 is down")));
  EXPECT_TRUE(is_in(1));
  w.report(*a, 1, 3, {running(key)});
  EXPECT_EQ(attempt().state, AttemptState::running);
  EXPECT_EQ(attempt().number, 1);
  EXPECT_EQ(node().liveness, Liveness::up);
  EXPECT_EQ(node().facts.instance, "real");
}

TEST_F(Admission, TheSecondOfANewNameIsRefusedBeforeTheFirstHasReported) {
  a->controller.agent_connected(ConnectionId{1}, "node-1", real);
  a->controller.agent_connected(ConnectionId{2}, "node-1", stranger);
  EXPECT_TRUE(is_in(1));
  EXPECT_FALSE(is_in(2));
}

TEST_F(Admission, TheNodesAgentGetsInAtOnceOverAHalfOpenStream) {
  run_job();
  dial(2, real, {running(key)});
  EXPECT_TRUE(is_in(2));
  AgentIdentity rebooted = real;
  rebooted.boot_id = "2";
  dial(3, rebooted, {running(key)});
  EXPECT_TRUE(is_in(3));
  AgentIdentity without_disk = rebooted;
  without_disk.boot_id = "3";
  without_disk.instance = "made anew";
  dial(4, without_disk);
  EXPECT_TRUE(is_in(4));
}

TEST_F(Admission, AgentsOfAnOldVersionReplaceEachOtherAsBefore) {
  w.connect(*a, 1, "node-1");
  w.connect(*a, 2, "node-1");
  EXPECT_TRUE(is_in(2));
  dial(3, real);  // upgraded
  EXPECT_TRUE(is_in(3));
  w.connect(*a, 4, "node-1");  // and back
  EXPECT_TRUE(is_in(4));
  EXPECT_EQ(node().facts.instance, "");
}

TEST_F(Admission, AStrangerThatFindsTheNewLeaderFirstIsRefusedTillTheNodeIsDown) {
  run_job();
  fail_over();
  dial(7, stranger);
  EXPECT_FALSE(is_in(7));
  dial(8, real, {running(key)});
  EXPECT_TRUE(is_in(8));
  EXPECT_EQ(attempt().state, AttemptState::running);
}

// Its ranks may run for as long as it has not surely fenced itself.
TEST_F(Admission, AStrangerWaitsUntilASilentNodeIsDown) {
  run_job();
  a->controller.agent_disconnected(ConnectionId{1});
  w.run(30s);
  dial(2, stranger);
  EXPECT_FALSE(is_in(2));
  EXPECT_THAT(a->agents.closed.back().second, HasSubstr("is silent, but its ranks may still run"));
  w.run(w.knobs.down_after);
  ASSERT_EQ(node().liveness, Liveness::down);
  dial(3, stranger);
  EXPECT_TRUE(is_in(3));
  EXPECT_EQ(node().liveness, Liveness::up);
  EXPECT_EQ(node().facts.instance, "stranger");
  dial(4, real);
  EXPECT_FALSE(is_in(4)) << "the name has a new owner";
}

TEST_F(Admission, AnOperatorsWordLetsANewMachineIn) {
  run_job();
  a->controller.agent_disconnected(ConnectionId{1});
  w.run(12s);
  dial(2, stranger);
  ASSERT_FALSE(is_in(2));
  auto answer = send(*a, FenceNode{"node-1", "it burns"});
  w.run(50ms);
  ASSERT_TRUE(answer->is_ok());
  dial(3, stranger);
  EXPECT_TRUE(is_in(3));
}

TEST_F(Admission, OfTwoStrangersToANodeThatIsDownTheFirstGetsIn) {
  dial(1, real);
  a->controller.agent_disconnected(ConnectionId{1});
  w.run(w.knobs.down_after + 2s);
  ASSERT_EQ(node().liveness, Liveness::down);
  a->controller.agent_connected(ConnectionId{2}, "node-1", stranger);
  a->controller.agent_connected(ConnectionId{3}, "node-1", agent("third"));
  EXPECT_TRUE(is_in(2));
  EXPECT_FALSE(is_in(3));
}

TEST_F(Admission, IsAnIncidentForAsLongAsTheStrangerTries) {
  run_job();
  for (int64_t i = 0; i < 30; ++i) {
    dial(100 + i, stranger);
    w.run(5s);
    w.report(*a, 1, 10 + i, {running(key)});
  }
  EXPECT_THAT(incidents(), ElementsAre("name_taken node/node-1"));
  const Incident incident = a->controller.state().incidents().begin()->second;
  EXPECT_THAT(incident.summary, HasSubstr("belongs to the agent at 10.0.0.4"));
  EXPECT_THAT(incident.nodes, ElementsAre(node().id));
  for (int64_t i = 0; i < 14; ++i) {
    w.run(5s);
    w.report(*a, 1, 50 + i, {running(key)});
  }
  EXPECT_THAT(incidents(), IsEmpty());
}

TEST_F(Admission, ANewLeaderKeepsTheIncidentUntilItHasHadTimeToRefuse) {
  run_job();
  dial(2, stranger);
  w.run(2s);
  ASSERT_THAT(incidents(), SizeIs(1));
  fail_over();
  EXPECT_THAT(incidents(), SizeIs(1));
  w.run(kRefusalStands + 5s);
  EXPECT_THAT(incidents(), IsEmpty());
}

}  // namespace
}  // namespace hai::test
