#include "common/hang_signs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace hai {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = HangSignKind;

MonoTime minute(double minutes) { return MonoTime(Duration(static_cast<int64_t>(minutes * 60e6))); }

const HangLimits kLimits{.patience = 10min};

// A rank that computes: GPU busy, 100 MB/s and half a core, a sample a minute until `end`.
RankActivity busy_until(double end) {
  RankActivity rank{.started_at = minute(0), .progress_at = minute(end), .log_at = minute(end)};
  for (int i = 0; i <= end; ++i) {
    rank.samples.push_back({.at = minute(i),
                            .gpu_utilization_percent = 97,
                            .received_bytes = i * 6'000'000'000,
                            .cpu_time = i * Duration(30s)});
  }
  return rank;
}

struct Stop {
  bool gpu = true;
  bool network = true;
  bool cpu = true;
};

void stop_until(RankActivity& rank, int end, Stop stop) {
  for (int i = static_cast<int>(rank.samples.size()); i <= end; ++i) {
    ActivitySample next = rank.samples.back();
    next.at = minute(i);
    next.gpu_utilization_percent = stop.gpu ? 0 : 100;
    if (!stop.network) *next.received_bytes += 6'000'000'000;
    if (!stop.cpu) *next.cpu_time += Duration(60s);
    rank.samples.push_back(next);
  }
}

std::vector<Kind> kinds(const RankActivity& rank, double now, HangLimits limits = kLimits) {
  std::vector<Kind> result;
  for (const HangSign& sign : hang_signs(rank, limits, minute(now))) result.push_back(sign.kind);
  return result;
}

// As the server judges ranks together: signs of the words and of another source.
bool hangs(const RankActivity& rank, double now) {
  std::set<HangSource> sources;
  for (const Kind kind : kinds(rank, now)) sources.insert(source_of(kind));
  return sources.contains(HangSource::words) && sources.size() > 1;
}

TEST(HangSigns, NoneOfARankThatComputes) { EXPECT_THAT(kinds(busy_until(30), 30), IsEmpty()); }

TEST(HangSigns, AllOfARankThatStopped) {
  RankActivity rank = busy_until(30);
  stop_until(rank, 41, {});
  const auto signs = hang_signs(rank, kLimits, minute(41));
  EXPECT_THAT(kinds(rank, 41),
              ElementsAre(Kind::no_progress, Kind::gpu_idle, Kind::network_quiet, Kind::cpu_idle));
  EXPECT_EQ(signs[0].since, minute(30));
  EXPECT_EQ(signs[1].since, minute(31));
  EXPECT_EQ(signs[0].text, "no progress report for 11m");
  EXPECT_THAT(kinds(rank, 39.5), IsEmpty()) << "not before patience is over";
}

// The usual hang: all wait in a collective, and spin at 100 %, but nothing comes.
TEST(HangSigns, WaitingInACollectiveShowsOnTheNetwork) {
  RankActivity rank = busy_until(30);
  stop_until(rank, 42, {.gpu = false, .cpu = false});
  EXPECT_THAT(kinds(rank, 42), ElementsAre(Kind::no_progress, Kind::network_quiet));
  EXPECT_TRUE(hangs(rank, 42));
}

TEST(HangSigns, OneSourceIsNoVerdict) {
  RankActivity silent = busy_until(30);
  stop_until(silent, 60, {.gpu = false, .network = false, .cpu = false});
  EXPECT_THAT(kinds(silent, 60), ElementsAre(Kind::no_progress));
  EXPECT_FALSE(hangs(silent, 60));

  RankActivity talking = busy_until(30);  // evaluates on the CPU of another node, say, and says so
  stop_until(talking, 60, {});
  talking.progress_at = minute(60);
  EXPECT_THAT(kinds(talking, 60), ElementsAre(Kind::gpu_idle, Kind::network_quiet, Kind::cpu_idle));
  EXPECT_FALSE(hangs(talking, 60));
}

TEST(HangSigns, LogCountsOnlyForThoseWhoNeverReportProgress) {
  RankActivity rank = busy_until(30);
  stop_until(rank, 45, {});
  rank.log_at = minute(45);  // "still waiting for rank 3 …"
  EXPECT_THAT(kinds(rank, 45), testing::Contains(Kind::no_progress));
  rank.progress_at = {};
  EXPECT_FALSE(hangs(rank, 45));
  rank.log_at = minute(30);
  EXPECT_THAT(kinds(rank, 45), testing::Contains(Kind::silent_log));
  EXPECT_TRUE(hangs(rank, 45));
  rank.log_at = {};
  EXPECT_TRUE(hangs(rank, 45)) << "it never said anything";
  rank.started_at = minute(40);
  EXPECT_FALSE(hangs(rank, 45)) << "but it has only begun";
}

TEST(HangSigns, NetworkCountsOnlyIfItWasUsed) {
  RankActivity rank{.started_at = minute(0), .log_at = minute(0)};
  for (int i = 0; i <= 20; ++i)
    rank.samples.push_back({.at = minute(i), .received_bytes = 5'000, .cpu_time = i * 60s});
  EXPECT_THAT(kinds(rank, 20), ElementsAre(Kind::silent_log));
}

TEST(HangSigns, UnknownIsNeitherForNorAgainst) {
  RankActivity rank = busy_until(30);
  stop_until(rank, 45, {});
  for (size_t i = 32; i < 44; i += 2) rank.samples[i].gpu_utilization_percent.reset();
  EXPECT_THAT(kinds(rank, 45), testing::Contains(Kind::gpu_idle));
  for (auto& sample : rank.samples) sample.gpu_utilization_percent.reset();
  EXPECT_THAT(kinds(rank, 45), testing::Not(testing::Contains(Kind::gpu_idle)));
  rank.samples.resize(1);
  EXPECT_THAT(kinds(rank, 45), ElementsAre(Kind::no_progress)) << "too few samples";
}

TEST(HangSigns, TwoSamplesOfOneMomentSayNothing) {
  RankActivity rank = busy_until(30);
  stop_until(rank, 45, {});
  const auto before = kinds(rank, 45);
  EXPECT_THAT(before, testing::IsSupersetOf({Kind::network_quiet, Kind::cpu_idle}));
  rank.samples.push_back(rank.samples.back());
  EXPECT_EQ(kinds(rank, 45), before);
}

TEST(HangSigns, CounterThatWentBackSaysNothing) {
  RankActivity rank = busy_until(30);
  stop_until(rank, 45, {.gpu = false, .cpu = false});
  for (size_t i = 35; i < rank.samples.size(); ++i) rank.samples[i].received_bytes = 10;
  EXPECT_THAT(kinds(rank, 45), ElementsAre(Kind::no_progress, Kind::network_quiet));
  rank.samples[40].received_bytes = 9'000'000'000;  // and one that jumped is traffic
  EXPECT_THAT(kinds(rank, 45), ElementsAre(Kind::no_progress));
}

// Workers come and go, so that what the living ones have used shrinks: nothing can be said of it.
TEST(HangSigns, CpuTimeThatShrinksIsNotIdle) {
  RankActivity rank = busy_until(30);
  stop_until(rank, 45, {});
  EXPECT_THAT(kinds(rank, 45), testing::Contains(Kind::cpu_idle));
  for (size_t i = 0; i < rank.samples.size(); ++i)
    rank.samples[i].cpu_time = Duration(3600s) - static_cast<int64_t>(i) * Duration(1s);
  EXPECT_THAT(kinds(rank, 45), testing::Not(testing::Contains(Kind::cpu_idle)));
}

TEST(HangSigns, CpuIsIdleBelowAHundredthOfACore) {
  for (const auto& [millis_per_minute, is_idle] : {std::pair{300, true}, {1'200, false}}) {
    RankActivity rank = busy_until(30);
    stop_until(rank, 45, {});
    for (size_t i = 31; i < rank.samples.size(); ++i)
      rank.samples[i].cpu_time = *rank.samples[i - 1].cpu_time + millis_per_minute * Duration(1ms);
    const auto found = kinds(rank, 45);
    EXPECT_EQ(std::count(found.begin(), found.end(), Kind::cpu_idle), is_idle) << millis_per_minute;
  }
}

TEST(HangSigns, TwoSamplesAreNoTrend) {
  RankActivity rank = busy_until(30);
  stop_until(rank, 45, {});
  rank.samples.erase(rank.samples.begin() + 32, rank.samples.end() - 1);  // at 31 and 45
  EXPECT_THAT(kinds(rank, 45), ElementsAre(Kind::no_progress));
}

TEST(HangSigns, LogOfAnEarlierAttemptDoesNotCount) {
  RankActivity rank = busy_until(30);
  stop_until(rank, 45, {});
  rank.progress_at = {};
  rank.log_at = minute(5);
  rank.started_at = minute(40);
  EXPECT_THAT(kinds(rank, 45), testing::Not(testing::Contains(Kind::silent_log)));
}

TEST(HangSigns, WatchdogOfZeroIsOff) {
  RankActivity rank = busy_until(30);
  stop_until(rank, 90, {});
  EXPECT_THAT(kinds(rank, 90, {.patience = Duration::zero()}), IsEmpty());
}

TEST(HangSigns, ForgettingChangesNoVerdict) {
  RankActivity kept = busy_until(30);
  stop_until(kept, 55, {.gpu = false});
  RankActivity shortened = kept;
  forget_old_samples(shortened, kLimits, minute(55));
  EXPECT_LE(shortened.samples.size(), 13u);
  EXPECT_EQ(kinds(shortened, 55), kinds(kept, 55));
  EXPECT_THAT(kinds(kept, 55), testing::Contains(Kind::network_quiet));
}

TEST(HangSuspect, IsTheRankThatStoppedFirst) {
  const auto at = [](int seconds) { return unix_micros(int64_t{seconds} * 1'000'000); };
  const auto suspect = [](std::vector<RankLastSeen> ranks) {
    const auto found = find_hang_suspect(ranks);
    return found ? found->rank : -1;
  };
  EXPECT_EQ(suspect({{0, 10, at(1)}, {1, 9, at(1)}, {2, 10, at(1)}}), 1);
  EXPECT_EQ(suspect({{0, 10, at(1)}, {1, 9, at(1)}, {2, 9, at(1)}}), -1) << "two are behind";
  EXPECT_EQ(suspect({{0, 10, at(9), 100}, {1, 10, at(9), 99}, {2, 10, at(9), 0}}), 2);
  EXPECT_EQ(suspect({{0, 10, at(9), 0}, {1, 10, at(9), 0}, {2, 10, at(9), 0}}), -1);
  EXPECT_EQ(suspect({{0, 10, at(9), {}}, {1, 10, at(9), 99}, {2, 10, at(9), 0}}), -1);
  EXPECT_EQ(suspect({{0, {}, at(100)}, {1, {}, at(60)}, {2, {}, at(101)}}), 1);
  EXPECT_EQ(suspect({{0, {}, at(100)}, {1, {}, at(95)}, {2, {}, at(101)}}), -1) << "too close";
  EXPECT_EQ(suspect({{0, {}, {}}, {1, {}, at(95)}}), -1);
  EXPECT_EQ(suspect({{0, 3, at(1)}}), -1);
  EXPECT_EQ(suspect({}), -1);
  EXPECT_EQ(find_hang_suspect({{0, 10, at(1)}, {1, 9, at(1)}})->why,
            "is at step 9, the others at 10 or later");
}

}  // namespace
}  // namespace hai
