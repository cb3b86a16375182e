// A node whose agent lies: its certificate is good, what it says is not. Each lie ends in one
// bounded reason or changes nothing but the liar's own lot: the leader leads on, the state is
// whole, what others run runs on, and something new can start on their nodes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

#include "server/control/nodes/agent_admission.h"
#include "server/model/invariants.h"
#include "server/store/event_line.h"
#include "tests/security/liar.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

// Those whose outcome is another where nothing can be proved, with that.
std::vector<Lie> lies_that_may_be_believed() {
  std::vector<Lie> lies;
  for (Lie& lie : all_lies()) {
    if (lie.unless_proved) lies.push_back({lie.name, lie.tell, *lie.unless_proved, lie.reason});
  }
  return lies;
}

// node-1, node-3 and node-4 are honest; job 1 of others runs on node-1, job 2 on the liar's node-2.
class HostileWorld {
 protected:
  explicit HostileWorld(bool proves = true) : world(proves) {
    add_honest("node-1");
    EXPECT_TRUE(world.submit(GatewayWorld::spec_of("others")).is_ok());
    world.run(5s);
    liar = std::make_unique<Liar>(world);
    EXPECT_TRUE(world.submit(GatewayWorld::spec_of("its")).is_ok());
    for (int i = 0; i < 10; ++i) {
      world.run(1s);
      liar->tell_truth();
    }
    add_honest("node-3");
    add_honest("node-4");
    world.run(5s);
    EXPECT_EQ(job(1).state, JobState::running);
    EXPECT_EQ(job(2).state, JobState::running);
    EXPECT_TRUE(liar->own);
    events_before_ = world.database().events().size();
    said_before_ = liar->bytes_said;
    epoch_before_ = world.state().epoch();
  }

  void add_honest(const std::string& node) {
    world.honest.push_back(std::make_unique<HonestAgent>(world, node));
    world.run(3s);
  }
  const Job& job(int64_t id) { return *world.state().find(JobId{id}); }

  void expect_outcome(const Lie& lie) {
    const std::string reason(liar->stream->reason.message());
    if (lie.outcome != Outcome::pause) {
      EXPECT_EQ(liar->stream->is_over, lie.outcome != Outcome::ignored) << reason;
    }
    if (lie.outcome == Outcome::cut) {
      EXPECT_THAT(reason, HasSubstr(lie.reason));
    }
    EXPECT_LE(reason.size(), 1'000u);
  }

  void expect_server_is_well(const Lie& lie) {
    for (int i = 0; i < 10 && !world.controller().is_leading(); ++i) world.run(1s);
    EXPECT_TRUE(world.controller().is_leading());
    if (lie.outcome == Outcome::cut || lie.outcome == Outcome::ignored) {
      EXPECT_EQ(world.state().epoch(), epoch_before_);
    } else if (lie.outcome == Outcome::term) {
      EXPECT_GT(world.state().epoch(), epoch_before_);
    }
    EXPECT_LE(world.state().epoch().value, epoch_before_.value + 10);
    EXPECT_THAT(violated_invariants(world.state()), ::testing::IsEmpty());
  }

  void expect_others_are_well() {
    EXPECT_EQ(job(1).state, JobState::running);
    EXPECT_EQ(job(1).attempt->number, 1);
    EXPECT_EQ(world.honest[0]->ranks().size(), 1u);
    for (const char* node : {"node-1", "node-3", "node-4"}) {
      EXPECT_EQ(world.state().find_node(node)->liveness, Liveness::up) << node;
      EXPECT_EQ(world.state().find_node(node)->scheduling, Scheduling::open) << node;
    }
  }

  bool starts_within(JobId added, Duration longest) {
    for (Duration waited{0}; waited < longest; waited += 1s) {
      if (job(added.value).state == JobState::running) return true;
      world.run(1s);
    }
    return false;
  }

  void expect_something_new_starts(const Lie& lie) {
    EXPECT_TRUE(world.submit(GatewayWorld::spec_of("new")).is_ok());
    const JobId added = world.state().last_job();
    if (lie.outcome != Outcome::pause) {
      EXPECT_TRUE(starts_within(added, 2min)) << "nothing new starts any more";
      return;
    }
    EXPECT_FALSE(starts_within(added, 30s)) << "it pauses nothing: say so in docs/security.md";
    EXPECT_NE(world.state().open_incident("store_went_back"), nullptr) << "people are told";
    world.hang_up(liar->stream);
    world.run(15s);
    EXPECT_TRUE(world.command(FenceNode{kLiar, "it lies"}).is_ok());
    EXPECT_TRUE(starts_within(added, 2min)) << "an operator's word does not help";
  }

  // Since the liar began.
  size_t stored_bytes() const {
    const std::vector<Event>& events = world.database().events();
    size_t bytes = 0;
    for (size_t i = events_before_; i < events.size(); ++i) bytes += event_line(events[i]).size();
    return bytes;
  }

  // What the lie has cost the database is no multiple of what was said, and the answer is short.
  void expect_is_bounded() {
    const size_t said = liar->bytes_said - said_before_;
    EXPECT_LE(world.database().events().size() - events_before_, 500 + said / 1'000);
    EXPECT_LE(stored_bytes(), (size_t{256} << 10) + 2 * said);
    EXPECT_LE(liar->stream->bytes_sent, size_t{1} << 20);
  }

  void play(const Lie& lie) {
    SCOPED_TRACE(lie.name);
    lie.tell(*liar);
    world.run(1s);
    expect_outcome(lie);
    expect_is_bounded();
    world.run(10s);
    expect_is_bounded();
    expect_server_is_well(lie);
    expect_others_are_well();
    expect_something_new_starts(lie);
  }

  GatewayWorld world;
  std::unique_ptr<Liar> liar;
  size_t events_before_ = 0;
  size_t said_before_ = 0;
  Epoch epoch_before_;
};

class HostileNode : public HostileWorld, public ::testing::TestWithParam<size_t> {};
class HostileWords : public HostileWorld, public ::testing::Test {};

// Where the servers have no CA.
class HostileNodeThatProvesNothing : public HostileWorld, public ::testing::TestWithParam<size_t> {
 protected:
  HostileNodeThatProvesNothing() : HostileWorld(/*proves=*/false) {}
};

TEST_P(HostileNode, HarmsNobodyElse) { play(all_lies()[GetParam()]); }

TEST_P(HostileNodeThatProvesNothing, CostsATermOrAPauseAndNoMore) {
  play(lies_that_may_be_believed()[GetParam()]);
}

std::string name_of(const Lie& lie) {
  std::string name;
  for (const char c : lie.name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Says, HostileNode, ::testing::Range(size_t{0}, all_lies().size()),
                         [](const auto& info) { return name_of(all_lies()[info.param]); });
INSTANTIATE_TEST_SUITE_P(Says, HostileNodeThatProvesNothing,
                         ::testing::Range(size_t{0}, lies_that_may_be_believed().size()),
                         [](const auto& info) {
                           return name_of(lies_that_may_be_believed()[info.param]);
                         });

// Beside the bound above, which grows with what was said.
TEST_F(HostileWords, OfAMegabyteAreCut) {
  const size_t before = stored_bytes();
  liar->tell_of_own([](auto& rank) {
    Liar::exit_of(rank, 1);
    rank.set_message(std::string((1 << 20) - 100, 'x'));
  });
  world.run(1s);
  EXPECT_EQ(job(2).state, JobState::failed);
  EXPECT_LE(stored_bytes() - before, size_t{32} << 10);
}

TEST_F(HostileWords, OfHigherEpochsEndNoTerm) {
  for (int i = 1; i <= 20; ++i) {
    liar->tell([&](auto& report) { report.set_seen_epoch(epoch_before_.value + 100 * i); });
    world.run(3s);
  }
  EXPECT_FALSE(liar->stream->is_over);
  EXPECT_EQ(world.state().epoch(), epoch_before_);
  expect_others_are_well();
}

// What honest nodes were told by a term whose end the database has lost.
TEST_F(HostileWords, ThatAreTrueAreBelieved) {
  EXPECT_TRUE(world.submit(GatewayWorld::spec_of("lost")).is_ok());
  world.run(10s);
  const JobId lost = world.state().last_job();
  EXPECT_EQ(job(lost.value).state, JobState::running);
  world.lose(40);
  ASSERT_TRUE(world.controller().is_leading());
  EXPECT_EQ(world.state().find(lost), nullptr);
  EXPECT_NE(world.state().open_incident("store_went_back"), nullptr);
}

class UnprovedWords : public HostileWorld, public ::testing::Test {
 protected:
  UnprovedWords() : HostileWorld(/*proves=*/false) {}
};

TEST_F(UnprovedWords, OfHigherEpochsEndOneTermAndNoMore) {
  for (int i = 1; i <= 20; ++i) {
    if (liar->stream->is_over) liar->dial();
    liar->tell([&](auto& report) { report.set_seen_epoch(epoch_before_.value + 100 * i); });
    world.run(3s);
  }
  EXPECT_TRUE(world.controller().is_leading());
  EXPECT_EQ(world.state().epoch().value, epoch_before_.value + 101);
  EXPECT_NE(world.state().open_incident(kNotBelieved), nullptr);
  expect_others_are_well();
}

TEST(HostileNodes, TellManyLies) { EXPECT_GE(all_lies().size(), 60u); }

// Before it is let in at all.
TEST(HostileHello, OfAnotherNodeIsRefused) {
  GatewayWorld world;
  const auto stream = world.dial("node-2");
  world.say(stream, GatewayWorld::hello_of("node-1"));
  EXPECT_TRUE(stream->is_over);
  EXPECT_THAT(std::string(stream->reason.message()), HasSubstr("certificate is of node node-2"));
}

TEST(HostileHello, IsWhatComesFirst) {
  GatewayWorld world;
  const auto stream = world.dial("node-2");
  world.say(stream, GatewayWorld::report_of("node-2", 1));
  EXPECT_TRUE(stream->is_over);
  EXPECT_FALSE(stream->is_accepted);
}

// The stream of an agent that speaks these protocols; oldest 0 = it does not say.
std::shared_ptr<AgentEnd> dial_with(GatewayWorld& world, int oldest, int newest) {
  const auto stream = world.dial("node-2");
  v1::AgentMessage hello = GatewayWorld::hello_of("node-2");
  hello.mutable_hello()->set_protocol_newest(newest);
  hello.mutable_hello()->set_protocol_oldest(oldest);
  world.say(stream, hello);
  return stream;
}

TEST(HostileHello, OfAnotherProtocolIsRefused) {
  GatewayWorld world;
  const auto stream = dial_with(world, 0, 99);
  EXPECT_TRUE(stream->is_over);
  EXPECT_THAT(std::string(stream->reason.message()), HasSubstr("speaks protocol 99"));
  EXPECT_THAT(std::string(stream->reason.message()),
              HasSubstr("upgrade the package hai-server on the servers"));
}

TEST(HostileHello, OfARangeOfProtocolsThatIsNone) {
  GatewayWorld world;
  for (const auto& [oldest, newest] : std::vector<std::pair<int, int>>{{-5, 0}, {7, 2}, {0, -1}}) {
    const auto stream = dial_with(world, oldest, newest);
    EXPECT_TRUE(stream->is_over) << oldest << " to " << newest;
    EXPECT_FALSE(stream->is_accepted);
  }
}

TEST(Hello, TheNewestProtocolThatBothSpeakIsTaken) {
  GatewayWorld world;
  const auto stream = dial_with(world, 1, 99);
  EXPECT_TRUE(stream->is_accepted);
  EXPECT_EQ(stream->protocol, kProtocols.newest);
}

TEST(HostileHello, OfATextWithoutEndIsRefused) {
  GatewayWorld world;
  const auto stream = world.dial("node-2");
  v1::AgentMessage hello = GatewayWorld::hello_of("node-2");
  hello.mutable_hello()->set_instance(std::string(1 << 20, 'i'));
  world.say(stream, hello);
  EXPECT_TRUE(stream->is_over);
  EXPECT_LE(stream->reason.message().size(), 1'000u);
}

}  // namespace
}  // namespace hai::test
