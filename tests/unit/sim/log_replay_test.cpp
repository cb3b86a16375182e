// Recorded logs decide again what they record, and a log that was changed is found out.

#include "sim/replay/log_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/model/state_digest.h"
#include "server/store/event_log.h"
#include "sim/chaos.h"
#include "sim/replay/write_log.h"
#include "tests/unit/sim/temp_file.h"

namespace hai {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Event> chaos_log(uint64_t seed) {
  std::vector<Event> log;
  ChaosOptions options;
  options.on_log = [&](const std::vector<Event>& events) { log = events; };
  const ChaosResult result = run_chaos(seed, options);
  EXPECT_EQ(result.violation, std::nullopt) << "seed " << seed;
  return log;
}

struct Replayed {
  Status status;
  ReplayReport report;
};

Replayed replay(const std::vector<Event>& log, ReplayLogOptions options = {}) {
  LogReplay replay(options);
  Status status;
  for (size_t i = 0; i < log.size() && status.is_ok(); ++i) status = replay.add(log[i]);
  if (status.is_ok()) status = replay.finish();
  return {status, replay.report()};
}

// A log in which a planning pass has started a job, and which of its events that is.
struct Start {
  std::vector<Event> log;
  size_t index = 0;
  AttemptPlaced& body() { return std::get<AttemptPlaced>(log[index].body); }
};

Start log_with_a_start(int which) {
  Start start{chaos_log(1)};
  for (; start.index < start.log.size(); ++start.index) {
    if (std::holds_alternative<AttemptPlaced>(start.log[start.index].body) && which-- == 0) break;
  }
  EXPECT_LT(start.index, start.log.size());
  return start;
}

TEST(LogReplay, DecidesAgainWhatChaosHasSeen) {
  int64_t passes = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Replayed replayed = replay(chaos_log(seed), {.strict = true});
    ASSERT_TRUE(replayed.status.is_ok()) << replayed.status.message();
    EXPECT_THAT(replayed.report.violations, IsEmpty()) << "seed " << seed;
    EXPECT_THAT(replayed.report.notes, IsEmpty());
    for (const Difference& difference : replayed.report.differences) {
      ADD_FAILURE() << "seed " << seed << "\n  " << difference.expected << "\n  " << difference.got;
    }
    EXPECT_GT(replayed.report.epochs, 0);
    passes += replayed.report.passes;
  }
  EXPECT_GT(passes, 1'000);
}

// Older versions did not count CPUs: what they gave too much of is told, and is an error only of a
// version that counts.
TEST(LogReplay, MoreCpusThanThereAreAreWrongOnlyWhereTheyWereCounted) {
  std::vector<Event> log = chaos_log(1);
  for (Event& event : log) {
    if (auto* submitted = std::get_if<JobSubmitted>(&event.body)) {
      JobSpec spec = *submitted->spec;
      spec.cpus_per_node = 100'000;
      submitted->spec = std::make_shared<const JobSpec>(spec);
    }
  }
  const ReplayReport old = replay(log, {.decisions = false, .strict = true}).report;
  EXPECT_THAT(old.violations, IsEmpty());
  EXPECT_THAT(old.notes, testing::ElementsAre(HasSubstr("more CPUs or memory given")));
  const ReplayReport counted = replay(log, {.strict = true}).report;
  EXPECT_THAT(counted.violations, testing::Contains(HasSubstr("more CPUs or memory given")));
}

TEST(LogReplay, FilesReadBackGiveTheSameDigests) {
  const std::vector<Event> log = chaos_log(3);
  const Replayed direct = replay(log);
  for (const char* suffix : {".jsonl", ".jsonl.gz"}) {
    const test::TempFile file("", suffix);
    ASSERT_TRUE(write_log(file.path(), log).is_ok());
    FileEventLog reader({file.path()});
    std::vector<Event> read;
    while (true) {
      Result<std::vector<Event>> page = reader.next_page();
      ASSERT_TRUE(page.is_ok()) << page.status().message();
      if (page.value().empty()) break;
      for (Event& event : page.value()) read.push_back(std::move(event));
    }
    const Replayed again = replay(read);
    EXPECT_EQ(again.report.log_digest, direct.report.log_digest);
    EXPECT_EQ(again.report.state_digest, direct.report.state_digest);
  }
}

TEST(LogReplay, TheStateAloneComesToTheSameEnd) {
  const std::vector<Event> log = chaos_log(4);
  const Replayed state_only = replay(log, {.decisions = false});
  EXPECT_EQ(state_only.report.passes, 0);
  EXPECT_EQ(state_only.report.state_digest, replay(log).report.state_digest);
}

TEST(LogReplay, FindsAnotherPort) {
  Start start = log_with_a_start(3);
  ++start.body().master_port;
  const Replayed replayed = replay(start.log);
  ASSERT_TRUE(replayed.status.is_ok()) << replayed.status.message();
  ASSERT_EQ(replayed.report.difference_count, 1);
  const Difference& difference = replayed.report.differences.front();
  EXPECT_EQ(difference.seq, start.log[start.index].seq);
  EXPECT_THAT(difference.got,
              HasSubstr(fmt::format("\"master_port\":{}", start.body().master_port)));
  EXPECT_THAT(difference.expected,
              HasSubstr(fmt::format("\"master_port\":{}", start.body().master_port - 1)));
}

TEST(LogReplay, FindsAPlaceThatIsTaken) {
  Start start = log_with_a_start(5);
  start.body().placement.front().node = NodeId{4711};
  const Replayed replayed = replay(start.log);
  EXPECT_EQ(replayed.status.code(), Code::data_loss);
  EXPECT_THAT(std::string(replayed.status.message()), HasSubstr("node 4711 does not exist"));
}

TEST(LogReplay, RefusesALogWithoutItsBeginning) {
  std::vector<Event> log = chaos_log(1);
  log.erase(log.begin());
  EXPECT_THAT(std::string(replay(log).status.message()), HasSubstr("the log begins at event 2"));
}

TEST(LogReplay, SeesAGap) {
  std::vector<Event> log = chaos_log(1);
  log.erase(log.begin() + 40);
  EXPECT_THAT(std::string(replay(log).status.message()), HasSubstr("event 42 follows event 40"));
}

// The same pass with other knobs is another pass.
TEST(LogReplay, GoesByTheKnobsOfTheLog) {
  std::vector<Event> log = chaos_log(2);
  bool differs = false;
  for (const char* policy : {"fifo", "feedback"}) {
    for (Event& event : log) {
      if (auto* started = std::get_if<EpochStarted>(&event.body)) {
        started->knobs["policy"] = policy;
        started->knobs["max_cross_zone_jobs"] = "0";
        started->knobs["tight_wait"] = "0s";
        started->knobs["min_quantum"] = "168h";
        started->knobs["reserve_after"] = "168h";
      }
    }
    differs = differs || replay(log).report.difference_count > 0;
  }
  EXPECT_TRUE(differs);
}

TEST(LogReplay, SaysWhatItAssumes) {
  std::vector<Event> log = chaos_log(1);
  std::get<EpochStarted>(log.front().body).knobs.clear();
  EXPECT_THAT(replay(log).report.notes.front(), HasSubstr("epoch 1 does not say its knobs"));
}

}  // namespace
}  // namespace hai
