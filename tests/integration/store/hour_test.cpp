// What happened hour by hour, counted from the event log: each event once.

#include "server/store/hour_queries.h"

#include <algorithm>

#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

constexpr Duration kKeepForEver = 24h * 36'500;

class HourTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    PgStore store(loop_, {conninfo_});
    const Epoch epoch = acquire(store).value().epoch;
    AppendBatch batch = cluster_.start_epoch(epoch);
    for (int i = 0; i < 30; ++i) {
      ASSERT_EQ(append(store, batch), ok());
      events_.insert(events_.end(), batch.events.begin(), batch.events.end());
      batch = cluster_.next_batch(epoch, 40);
    }
    history_ = std::make_unique<PgHistory>(loop_, conninfo_);
  }
  bool count(int events_max) {
    PgSession session({.conninfo = conninfo_});
    return count_hours(session, kKeepForEver, events_max);
  }
  HourReport report(Duration step) {
    return (*wait<Result<HourReport>>([&](auto done) {
             history_->report(unix_micros(0), wall_time() + kKeepForEver, step, done);
           }))
        .value();
  }
  UnixTime wall_time() const { return events_.back().time; }
  static int64_t sum(const HourReport& report, std::string_view word) {
    const auto at =
        static_cast<size_t>(std::ranges::find(kHourCountWords, word) - kHourCountWords.begin());
    int64_t all = 0;
    for (const HourRow& row : report.rows) all += row.counts.at(at);
    return all;
  }
  template <typename Body, typename Counted>
  int64_t expected(Counted counted) const {
    int64_t all = 0;
    for (const Event& event : events_) {
      if (const auto* body = std::get_if<Body>(&event.body)) all += counted(*body);
    }
    return all;
  }
  void expect_all_counted(const HourReport& report) const {
    EXPECT_EQ(sum(report, "submitted"), expected<JobSubmitted>([](const auto&) { return 1; }));
    EXPECT_EQ(sum(report, "failed"), expected<JobFinished>([](const JobFinished& each) {
                return each.state == JobState::failed ? 1 : 0;
              }));
    EXPECT_EQ(sum(report, "preemptions"),
              expected<AttemptSuspending>(
                  [](const AttemptSuspending& each) { return each.beneficiary ? 1 : 0; }));
    EXPECT_EQ(sum(report, "faults"), expected<JobRequeued>([](const JobRequeued& each) {
                return each.infrastructure ? 1 : 0;
              }));
    EXPECT_EQ(sum(report, "nodes_lost"),
              expected<NodeLivenessChanged>([](const NodeLivenessChanged& each) {
                return each.liveness == Liveness::down ? 1 : 0;
              }));
    EXPECT_EQ(sum(report, "lost_gpu_seconds"), expected<AttemptEnded>([](const AttemptEnded& each) {
                return each.lost_gpu_seconds;
              }));
    EXPECT_EQ(sum(report, "ended_gpu_seconds"),
              expected<AttemptEnded>([](const auto& each) { return each.gpu_seconds; }) +
                  expected<RankEnded>([](const auto& each) { return each.gpu_seconds; }));
    EXPECT_GT(expected<RankEnded>([](const auto& each) { return each.gpu_seconds; }), 0);
    int64_t waits = 0;
    for (const HourRow& row : report.rows) waits += row.waits;
    EXPECT_EQ(waits, expected<AttemptRunning>([](const auto&) { return 1; }));
    EXPECT_GT(waits, 0);
    EXPECT_EQ(report.counted_to, events_.back().time);
  }
  test::RandomCluster cluster_{7};
  std::vector<Event> events_;
  std::unique_ptr<PgHistory> history_;
};

TEST_F(HourTest, CountsEachEventOnce) {
  EXPECT_FALSE(count(1'000'000));
  expect_all_counted(report(1h));
  EXPECT_FALSE(count(1'000'000));
  expect_all_counted(report(1h));
}

TEST_F(HourTest, GoesOnWhereItStopped) {
  int parts = 1;
  while (count(100)) ++parts;
  EXPECT_EQ(parts, static_cast<int>(events_.size() / 100) + 1);
  expect_all_counted(report(1h));
}

// A leader that was frozen counts beside its successor: the events that both want count once.
TEST_F(HourTest, TwoServersAtOnceCountEachEventOnce) {
  PgHistory other(loop_, conninfo_);
  int answers = 0;
  const auto done = [&](const Result<bool>& is_more) {
    EXPECT_TRUE(is_more.is_ok()) << is_more.status().message();
    if (++answers == 8) loop_.stop();
  };
  for (int i = 0; i < 4; ++i) {
    history_->count(kKeepForEver, done);
    other.count(kKeepForEver, done);
  }
  loop_.run();
  expect_all_counted(report(1h));
}

// The events may leave their table then; what was counted stays.
TEST_F(HourTest, StaysWhenTheEventsAreArchived) {
  count(1'000'000);
  const HourReport before = report(24h);
  PgSession session({.conninfo = conninfo_});
  session.run("DELETE FROM event WHERE seq < (SELECT max(seq) FROM event)");
  count(1'000'000);
  EXPECT_EQ(report(24h).rows, before.rows);
}

// A hundred waits of one minute to a hundred, in an hour far from all others.
TEST_F(HourTest, WaitsComeOutWithinAFewPercent) {
  const UnixTime begin =
      unix_micros((wall_time() + 1'000 * 24h).time_since_epoch() / 1h * int64_t{3'600'000'000});
  PgSession session({.conninfo = conninfo_});
  session.run(
      fmt::format("UPDATE job SET rest = (rest::jsonb || "
                  "jsonb_build_object('waiting_since', '{}'))::json WHERE id = 1",
                  format_rfc3339(begin)));
  session.run(fmt::format(
      "INSERT INTO event SELECT {} + minute, '{}'::timestamptz + minute * interval '1 minute', '',"
      " 'attempt_running', 'job/1', '{{\"job\": 1, \"attempt\": 1}}'"
      " FROM generate_series(1, 100) minute",
      events_.back().seq, format_rfc3339(begin)));
  count(1'000'000);
  std::vector<HourRow> rows = report(7 * 24h).rows;
  std::erase_if(rows, [&](const HourRow& row) { return row.at + 7 * 24h <= begin; });
  int64_t waits = 0;
  for (const HourRow& row : rows) waits += row.waits;
  EXPECT_EQ(waits, 100);
  ASSERT_EQ(rows.size(), 1u) << "the waits lie in one week";
  const auto minutes = [](Duration wait) { return static_cast<double>(wait.count()) / 60e6; };
  EXPECT_NEAR(minutes(*rows[0].wait_p50), 50, 4);
  EXPECT_NEAR(minutes(*rows[0].wait_p90), 90, 7);
}

TEST_F(HourTest, HasTheMinutesOfTheSamplesAndForgetsOldHours) {
  const UnixTime hour = unix_micros(wall_time().time_since_epoch() / 1h * 3'600'000'000);
  for (int minute = 0; minute < 30; ++minute) {
    ClusterSample sample{.at = hour + minute * 60s};
    sample.values.fill(1);
    sample.values[0] = 8;
    history_->save(sample, kKeepForEver);
  }
  report(1h);  // all samples are saved
  count(1'000'000);
  const auto at_hour = [&] {
    const HourReport all = report(1h);
    const auto found = std::ranges::find(all.rows, hour, &HourRow::at);
    return found == all.rows.end() ? HourRow{} : *found;
  };
  const std::array<int64_t, 6> half_an_hour = {8 * 1'800, 1'800, 1'800, 1'800, 1'800, 1'800};
  EXPECT_EQ(at_hour().gpu_seconds, half_an_hour);
  EXPECT_EQ(report(1h).kept_from.has_value(), true);

  PgSession session({.conninfo = conninfo_});
  session.run("DELETE FROM cluster_sample");
  session.run("DELETE FROM history_hour");
  session.run(
      "INSERT INTO history_hour (at, failed) VALUES (now() - interval '401 days', 1),"
      " (now() - interval '399 days', 2)");
  count_hours(session, 400 * Duration(24h));
  EXPECT_EQ(sum(report(1h), "failed"), 2);
}

}  // namespace
}  // namespace hai
