#include "server/store/event_line.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "server/store/job_line.h"
#include "server/store/json_codec.h"
#include "tests/support/random_cluster.h"

namespace hai {
namespace {

TEST(EventLine, IsReadBack) {
  test::RandomCluster cluster(3);
  std::vector<Event> events = cluster.start_epoch(Epoch{1}).events;
  for (const Event& event : cluster.next_batch(Epoch{1}, 500).events) events.push_back(event);
  for (const Event& event : events) {
    const std::string line = event_line(event);
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    const Result<Event> read = event_from_line(line);
    ASSERT_TRUE(read.is_ok()) << read.status().message() << "\n" << line;
    EXPECT_EQ(read.value().seq, event.seq);
    EXPECT_EQ(read.value().time, event.time);
    EXPECT_EQ(event_line(read.value()), line);
  }
}

TEST(EventLine, LooksLikeThis) {
  const Event event{7, unix_micros(1'790'000'000'123'456), "ann", JobHeld{JobId{3}, "later"}};
  EXPECT_EQ(event_line(event),
            R"({"seq":7,"time":"2026-09-21T14:13:20.123456Z","actor":"ann","kind":"job_held",)"
            R"("body":{"job":3,"reason":"later"}})");
}

TEST(EventLine, SaysWhatIsWrong) {
  const auto refused = [](std::string_view line) {
    return std::string(event_from_line(line).status().message());
  };
  EXPECT_EQ(refused(R"([1])"), "no event: expected an object");
  EXPECT_EQ(refused(R"({"seq":1})"), "no event: time is missing");
  EXPECT_EQ(refused(R"({"seq":1,"time":"2026-01-01T00:00:00Z","actor":"a","kind":"x","body":{}})"),
            "event 1: event kind x is not known");
  const std::string long_kind(5'000, 'x');
  EXPECT_LT(refused(R"({"seq":1,"time":"2026-01-01T00:00:00Z","actor":"a","kind":")" + long_kind +
                    R"(","body":{}})")
                .size(),
            200u)
      << "of a damaged line";
  EXPECT_EQ(refused(R"({"seq":1,"time":"soon","actor":"a","kind":"job_held","body":{}})"),
            "no event: time is missing");
  EXPECT_FALSE(event_from_line(R"({"seq":1,)").is_ok());
  EXPECT_FALSE(event_from_line("").is_ok());
}

// Written again they would be other names, sorted otherwise, and two of them could be one.
TEST(EventLine, WithNamesThatAreNoTextIsRefused) {
  const auto read = [](std::string_view name) {
    return event_from_line(
               fmt::format(R"({{"seq":1,"time":"2026-01-01T00:00:00Z","actor":"a",)"
                           R"("kind":"epoch_started","body":{{"epoch":1,"knobs":{{"{}":"5m"}}}}}})",
                           name))
        .status();
  };
  EXPECT_TRUE(read("min_quantum").is_ok());
  EXPECT_TRUE(read("\xc3\xbc\\u00fc").is_ok());
  for (const char* name : {"min_q\x9euantum", "a\xef", R"(a\u0000)"}) {
    EXPECT_EQ(read(name).message(), "event 1: epoch_started: knobs: expected names of UTF-8")
        << name;
  }
}

TEST(JobLine, IsReadBack) {
  test::RandomCluster cluster(5);
  cluster.start_epoch(Epoch{1});
  cluster.next_batch(Epoch{1}, 2'000);
  int attempts = 0;
  for (const auto& [id, job] : cluster.state().jobs()) {
    ArchivedJob archived{job, {}};
    if (job.attempt) archived.earlier = {*job.attempt, *job.attempt};
    attempts += job.attempt.has_value();
    const std::string line = job_line(archived);
    const Result<ArchivedJob> read = job_from_line(line);
    ASSERT_TRUE(read.is_ok()) << read.status().message() << "\n" << line;
    EXPECT_EQ(job_line(read.value()), line);
    EXPECT_EQ(read.value().earlier, archived.earlier);
    EXPECT_TRUE(read.value().job == job) << line;
  }
  EXPECT_GT(attempts, 5);
}

TEST(JobLine, OfAVersionThatDidNotCountWhatAttemptsRanIsCounted) {
  Attempt attempt;
  attempt.running_at = unix_micros(1'000'000);
  attempt.ended_at = *attempt.running_at + 90'700ms;
  Job job;
  job.id = JobId{1};
  job.spec = std::make_shared<const JobSpec>();
  job.attempt = attempt;
  std::string line = job_line({job, {attempt}});
  const size_t at = line.find("\"run_seconds\":0,");
  ASSERT_NE(at, std::string::npos) << line;
  EXPECT_EQ(job_from_line(line).value().job.counters.run_seconds, 0) << "counted already";
  line.erase(at, line.find(',', at) + 1 - at);
  EXPECT_EQ(job_from_line(line).value().job.counters.run_seconds, 180);
}

TEST(JobLine, OfManyAttemptsAreSeveralThatAreJoinedAgain) {
  ArchivedJob archived;
  archived.job.id = JobId{7};
  archived.job.spec = std::make_shared<const JobSpec>();
  for (int number = 1; number <= 5; ++number) archived.earlier.push_back({.number = number});
  const std::string whole = job_line(archived);
  const std::vector<std::string> lines =
      job_lines(archived, to_json(archived.earlier[0]).size() + 1);
  ASSERT_EQ(lines.size(), 3u) << "two attempts, two, and the job with the last one";
  JobJoiner joiner;
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    EXPECT_FALSE(joiner.add(lines[i]).value().has_value());
    EXPECT_FALSE(job_from_line(lines[i]).is_ok());
    EXPECT_EQ(joiner.finish().message(), "attempts of job 7 are there without the job");
  }
  const Result<std::optional<ArchivedJob>> joined = joiner.add(lines.back());
  ASSERT_TRUE(joined.is_ok() && joined.value()) << joined.status().message();
  EXPECT_EQ(job_line(*joined.value()), whole);
  EXPECT_EQ(joiner.finish(), ok());
  EXPECT_EQ(joiner.add(whole).value()->earlier.size(), 5u) << "as versions before wrote it";
  // Attempts that another job's line follows are not that one's.
  EXPECT_FALSE(joiner.add(lines.front()).value().has_value());
  archived.job.id = JobId{8};
  EXPECT_FALSE(joiner.add(job_line(archived)).is_ok());
}

}  // namespace
}  // namespace hai
