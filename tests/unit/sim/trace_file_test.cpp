// Job traces: what is read, what is refused and where.

#include "sim/trace/trace_file.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "tests/unit/sim/temp_file.h"

namespace hai::test {
namespace {

const std::string kTraceHeader = "job_id,submit_s,gpus,duration_s\n";

TraceCluster cluster_of(const std::string& text = "16x8") { return read_cluster(text).value(); }

std::string trace_error_of(const std::string& text) {
  TempFile file(text);
  auto trace = read_trace(file.path(), {}, cluster_of());
  return trace.is_ok() ? "ok" : file.shown(trace.status().message());
}

Trace read(const std::string& text, const TraceChoice& choice = {}) {
  TempFile file(text);
  auto trace = read_trace(file.path(), choice, cluster_of());
  EXPECT_TRUE(trace.is_ok()) << trace.status().message();
  return trace.is_ok() ? std::move(trace).value() : Trace{};
}

TEST(TraceFile, ReadsColumnsByName) {
  Trace trace =
      read("duration_s,vc,gpus,user,submit_s,job_id\n60,team,2,,5,a\n0,team,17,ann,7.5,b\n");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_THAT(trace.users, ::testing::ElementsAre("team", "ann"));
  EXPECT_EQ(trace.jobs[0].submit, 5s);
  EXPECT_EQ(trace.jobs[0].work, 60s);
  EXPECT_EQ(trace.jobs[0].gpus_per_node, 2);
  EXPECT_EQ(trace.jobs[1].submit, 7500ms);
  EXPECT_EQ(trace.jobs[1].work, 1s);  // None takes no time at all.
  EXPECT_EQ(trace.jobs[1].nodes, 3);
  EXPECT_EQ(trace.jobs[1].gpus_per_node, 0);
}

TEST(TraceFile, NamesUsersAsTheServerTakesThem) {
  Trace trace =
      read("job_id,submit_s,gpus,duration_s,vc\na,0,1,1,x:y\nb,0,1,1,x/y\nc,0,1,1,\nd,0,1,1,-a\n");
  EXPECT_THAT(trace.users, ::testing::ElementsAre("x.y", "x.y+2", "nobody", ".a"));
}

TEST(TraceFile, SharesAreOneTwoOrFourGpusAndTheRestWholeNodes) {
  EXPECT_EQ(shape_of(0.25, 8), (JobShape{1, 1}));
  EXPECT_EQ(shape_of(1.5, 8), (JobShape{1, 2}));
  EXPECT_EQ(shape_of(3, 8), (JobShape{1, 4}));
  EXPECT_EQ(shape_of(5, 8), (JobShape{1, 0}));
  EXPECT_EQ(shape_of(8, 8), (JobShape{1, 0}));
  EXPECT_EQ(shape_of(9, 8), (JobShape{2, 0}));
  EXPECT_EQ(shape_of(4, 4), (JobShape{1, 0}));
  EXPECT_EQ(shape_of(1024, 8), (JobShape{128, 0}));
}

TEST(TraceFile, LeavesOutWhatCannotRunAndCountsIt) {
  Trace trace = read(kTraceHeader + "a,0,1,\nb,1,129,60\nc,2,128,60\n");
  EXPECT_EQ(trace.unknown_duration, 1);
  EXPECT_EQ(trace.too_large, 1);
  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].nodes, 16);
}

TEST(TraceFile, ChoosesDaysLimitAndLoad) {
  std::string text = kTraceHeader;
  for (int day = 0; day < 5; ++day) text += fmt::format("j{},{},1,60\n", day, day * 86'400 + 100);
  Trace trace = read(text, {.limit = 2, .from_day = 1, .days = 3, .load = 2});
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].submit, 50s);
  EXPECT_EQ(trace.jobs[1].submit, 50s + 12h);
}

TEST(TraceFile, SaysWhereItIsBroken) {
  EXPECT_EQ(trace_error_of(""), "FILE:0: the file is empty");
  EXPECT_EQ(
      trace_error_of("job_id,submit_s,gpus,cpu\n"),
      "FILE:1: unknown column 'cpu', known are: job_id, submit_s, gpus, duration_s, user, vc, "
      "nodes_hint, status, priority_hint, failure_hint");
  EXPECT_EQ(trace_error_of("job_id,submit_s,gpus\n"), "FILE:1: column 'duration_s' is missing");
  EXPECT_EQ(trace_error_of("job_id,gpus,gpus\n"), "FILE:1: column 'gpus' is there twice");
  EXPECT_EQ(trace_error_of(kTraceHeader + "a,1,1\n"), "FILE:2: 3 fields, the header has 4");
  EXPECT_EQ(trace_error_of(kTraceHeader + "a,1,1,2\n\nb,0,1,2\n"),
            "FILE:4: submit_s: 0 is before the line above's 1; sort by submit_s");
  EXPECT_EQ(trace_error_of(kTraceHeader + "a,x,1,2\n"),
            "FILE:2: submit_s: must be a number, is 'x'");
  EXPECT_EQ(trace_error_of(kTraceHeader + "a,nan,1,2\n"),
            "FILE:2: submit_s: must be a number, is 'nan'");
  EXPECT_EQ(trace_error_of(kTraceHeader + "a,0,1,-2\n"),
            "FILE:2: duration_s: must be 0..315360000, is -2");
  EXPECT_EQ(trace_error_of(kTraceHeader + "a,0,0,2\n"), "FILE:2: gpus: must be more than 0, is 0");
  EXPECT_EQ(trace_error_of(kTraceHeader + "a,0,1e9,2\n"),
            "FILE:2: gpus: must be 0..1000000, is 1000000000");
  EXPECT_EQ(trace_error_of(kTraceHeader + ",0,1,2\n"), "FILE:2: job_id: must not be empty");
  EXPECT_EQ(trace_error_of(kTraceHeader + "\"a,0,1,2\n"), "FILE:2: a quote is not closed");
  EXPECT_EQ(trace_error_of(kTraceHeader + std::string(70'000, 'a') + "\n"),
            "FILE:2: the line is longer than 65536 bytes");
  EXPECT_EQ(trace_error_of(kTraceHeader), "FILE: no job to replay in it, or in the chosen days");
  EXPECT_EQ(read_trace("no-such-file.csv", {}, cluster_of()).status().message(),
            "no-such-file.csv: can't be opened: No such file or directory");
}

std::string zipped(const std::string& text) {
  TempFile file("");
  gzFile zip = gzopen(file.path().c_str(), "wb");
  EXPECT_EQ(gzwrite(zip, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  gzclose(zip);
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(TraceFile, ReadsGzip) {
  EXPECT_EQ(read(zipped(kTraceHeader + "a,0,1,60\r\nb,1,1,60")).jobs.size(), 2u);
}

TEST(TraceFile, AFileCutShortIsAnError) {
  std::string text = kTraceHeader;
  for (int i = 0; i < 5'000; ++i) text += fmt::format("job-{},{},1,{}\n", i, i, i * 7919 % 1000);
  std::string whole = zipped(text);
  EXPECT_THAT(trace_error_of(whole.substr(0, whole.size() / 2)),
              ::testing::MatchesRegex("FILE:[0-9]+: the file is cut short"));
}

}  // namespace
}  // namespace hai::test
