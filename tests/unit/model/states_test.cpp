// The tables of states: every word both ways, and every pair of states against the diagram of
// docs/contract.md, States, written down a second time here.

#include "server/model/states.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "common/agent_messages.h"
#include "common/job_spec.h"
#include "server/model/node_health.h"

namespace hai {
namespace {

constexpr JobState kJobStates[] = {JobState::queued,    JobState::running, JobState::suspended,
                                   JobState::succeeded, JobState::failed,  JobState::stopped};
constexpr AttemptState kAttemptStates[] = {
    AttemptState::placed,     AttemptState::starting,  AttemptState::running,
    AttemptState::suspending, AttemptState::suspended, AttemptState::succeeded,
    AttemptState::failed,     AttemptState::stopped,   AttemptState::lost};

TEST(JobStates, MayFollowExactlyWhatTheDiagramSays) {
  // A job that never ran may end at once (stopped, refused by the planner); what has ended stays.
  const std::map<std::string, std::set<std::string>> allowed = {
      {"queued", {"running", "suspended", "succeeded", "failed", "stopped"}},
      {"running", {"suspended", "succeeded", "failed", "stopped"}},
      {"suspended", {"running", "succeeded", "failed", "stopped"}},
      {"succeeded", {}},
      {"failed", {}},
      {"stopped", {}},
  };
  for (JobState from : kJobStates) {
    for (JobState to : kJobStates) {
      bool expected = allowed.at(std::string(to_string(from))).contains(std::string(to_string(to)));
      EXPECT_EQ(may_follow(from, to), expected) << to_string(from) << " -> " << to_string(to);
    }
  }
}

TEST(AttemptStates, MayFollowExactlyWhatTheDiagramSays) {
  const std::set<std::string> ends = {"suspended", "succeeded", "failed", "stopped", "lost"};
  std::map<std::string, std::set<std::string>> allowed = {
      {"placed", {"starting", "running", "suspending"}},
      {"starting", {"running", "suspending"}},
      {"running", {"suspending"}},
      {"suspending", {"placed", "starting", "running"}},  // its suspension was taken back
  };
  for (auto& [from, to] : allowed) to.insert(ends.begin(), ends.end());
  for (const std::string& end : ends) allowed[end] = {};
  for (AttemptState from : kAttemptStates) {
    for (AttemptState to : kAttemptStates) {
      bool expected = allowed.at(std::string(to_string(from))).contains(std::string(to_string(to)));
      EXPECT_EQ(may_follow(from, to), expected) << to_string(from) << " -> " << to_string(to);
    }
  }
}

TEST(RepairSteps, MayFollowExactlyWhatTheLadderSays) {
  const std::map<std::string, std::set<std::string>> allowed = {
      {"none", {"none", "emptying", "bisecting"}},
      {"emptying", {"none", "emptying", "validating", "repairing", "service"}},
      {"validating", {"none", "emptying", "validating", "repairing", "service"}},
      {"repairing", {"none", "emptying", "validating", "repairing", "service"}},
      {"bisecting", {"none", "emptying", "bisecting", "service"}},
      {"service", {"none", "emptying", "validating", "service"}},
  };
  for (const auto& [from, followers] : allowed) {
    for (const auto& [to, unused] : allowed) {
      EXPECT_EQ(may_follow(*parse_enum<RepairStep>(from), *parse_enum<RepairStep>(to)),
                followers.contains(to))
          << from << " -> " << to;
    }
  }
}

TEST(Marks, OfOldLogsSayWhatTheyAreAboutInTheSameText) {
  EXPECT_EQ(parse_enum<MarkKind>("evict gpu_xid"), MarkKind::evict);
  EXPECT_EQ(parse_enum<MarkKind>("validation_failed"), MarkKind::validation_failed);
  EXPECT_EQ(parse_enum<MarkKind>("evicted gpu_xid"), std::nullopt);
}

TEST(JobStates, AreTerminalExactlyWhenNothingFollows) {
  for (JobState from : kJobStates) {
    bool follows = false;
    for (JobState to : kJobStates) follows = follows || may_follow(from, to);
    EXPECT_EQ(is_terminal(from), !follows) << to_string(from);
  }
}

TEST(AttemptStates, AreTerminalExactlyWhenNothingFollows) {
  for (AttemptState from : kAttemptStates) {
    bool follows = false;
    for (AttemptState to : kAttemptStates) follows = follows || may_follow(from, to);
    EXPECT_EQ(is_terminal(from), !follows) << to_string(from);
  }
}

TEST(RankStates, AreGoneWhenExitedOrLost) {
  EXPECT_FALSE(is_gone(RankState::pending));
  EXPECT_FALSE(is_gone(RankState::running));
  EXPECT_TRUE(is_gone(RankState::exited));
  EXPECT_TRUE(is_gone(RankState::lost));
}

template <typename Enum>
void expect_round_trip(std::initializer_list<Enum> values) {
  std::set<std::string> words;
  for (Enum value : values) {
    std::string word(to_string(value));
    EXPECT_TRUE(words.insert(word).second) << word << " means two things";
    ASSERT_TRUE(parse_enum<Enum>(word).has_value()) << word;
    EXPECT_EQ(*parse_enum<Enum>(word), value) << word;
  }
  EXPECT_FALSE(parse_enum<Enum>("").has_value());
  EXPECT_FALSE(parse_enum<Enum>("RUNNING").has_value());
}

TEST(Words, ReadBackToTheSameValue) {
  expect_round_trip({JobState::queued, JobState::running, JobState::suspended, JobState::succeeded,
                     JobState::failed, JobState::stopped});
  expect_round_trip({AttemptState::placed, AttemptState::starting, AttemptState::running,
                     AttemptState::suspending, AttemptState::suspended, AttemptState::succeeded,
                     AttemptState::failed, AttemptState::stopped, AttemptState::lost});
  expect_round_trip({RankState::pending, RankState::running, RankState::exited, RankState::lost,
                     RankState::released});
  expect_round_trip({Liveness::up, Liveness::suspect, Liveness::down});
  expect_round_trip(
      {Scheduling::open, Scheduling::cordoned, Scheduling::draining, Scheduling::drained});
  expect_round_trip({Role::user, Role::operator_, Role::admin});
  expect_round_trip({ExitCause::none, ExitCause::program, ExitCause::left, ExitCause::go_suspend,
                     ExitCause::grace_over, ExitCause::killed, ExitCause::fenced,
                     ExitCause::launch_failed, ExitCause::lost});
  expect_round_trip({LaunchMode::per_node, LaunchMode::per_gpu});
  expect_round_trip({EnvStyle::hai, EnvStyle::torch, EnvStyle::slurm});
  expect_round_trip({CrossZone::allow, CrossZone::never});
  expect_round_trip({Priority::automatic, Priority::low, Priority::below_normal,
                     Priority::under_normal, Priority::normal, Priority::above_normal,
                     Priority::high, Priority::very_high, Priority::extreme_high});
}

}  // namespace
}  // namespace hai
