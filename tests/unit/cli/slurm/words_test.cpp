#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/slurm/format_fields.h"
#include "cli/slurm/job_query.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/log_text.h"
#include "cli/slurm/node_words.h"
#include "cli/slurm/step/output_writer.h"

namespace hai::cli::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

v1::Job job_in(const std::string& state, const std::string& attempt = "") {
  v1::Job job;
  job.set_id(7);
  job.set_name("train");
  job.set_user("ann");
  job.set_group("training");
  job.set_priority("high");
  job.set_state(state);
  job.set_attempt_state(attempt);
  job.set_node_count(2);
  return job;
}

TEST(SlurmWords, StatesOfJobs) {
  EXPECT_EQ(state_of(job_in("queued")).code, "PD");
  EXPECT_EQ(state_of(job_in("running", "starting")).code, "CF");
  EXPECT_EQ(state_of(job_in("running", "running")).code, "R");
  EXPECT_EQ(state_of(job_in("running", "suspending")).code, "CG");
  EXPECT_EQ(state_of(job_in("suspended", "suspended")).code, "S");
  EXPECT_EQ(state_of(job_in("succeeded")).code, "CD");
  EXPECT_EQ(state_of(job_in("failed")).name, "FAILED");
  EXPECT_EQ(state_of(job_in("stopped")).name, "CANCELLED");
  v1::Job late = job_in("failed");
  late.set_end_reason("ran longer than its timeout of 5m");
  EXPECT_EQ(state_of(late).code, "TO");
  EXPECT_THAT(parse_states("pd,RUNNING").value(), ElementsAre("PD", "R"));
  EXPECT_TRUE(parse_states("all").value().empty());
  EXPECT_THAT(parse_states("R,sleeping").status().message(), HasSubstr("state 'SLEEPING'"));
}

TEST(SlurmWords, ReasonsOfWaitingJobs) {
  v1::Job job = job_in("queued");
  EXPECT_EQ(nodes_or_reason(job), "(None)");
  job.mutable_pending_reason()->set_code("dependency");
  EXPECT_EQ(nodes_or_reason(job), "(Dependency)");
  job.set_held(true);
  EXPECT_EQ(nodes_or_reason(job), "(JobHeldUser)");
  v1::Job running = job_in("running", "running");
  running.add_nodes("node-2");
  running.add_nodes("node-1");
  EXPECT_EQ(nodes_or_reason(running), "node-[1-2]");
}

std::string shown(const std::string& format, const v1::Job& job) {
  const auto fields = parse_format(format, job_letters());
  if (!fields.is_ok()) return std::string(fields.status().message());
  return format_lines(fields.value(), job_letters(),
                      {[&](char letter) { return job_value(job, letter, unix_micros(0)); }}, true);
}

TEST(SlurmWords, FormatsAsSqueueDoes) {
  const v1::Job job = job_in("queued");
  EXPECT_EQ(shown("%.6i %.9P %.8j %.2t %R", job),
            " JOBID PARTITION     NAME ST NODELIST(REASON)\n"
            "     7  training    train PD (None)\n");
  EXPECT_EQ(shown("%4j|%j", job), "NAME|NAME\ntrai|train\n");
  EXPECT_EQ(shown("id=%i, %D nodes", job), "id=JOBID, NODES nodes\nid=7, 2 nodes\n");
  EXPECT_THAT(shown("%i %I", job), HasSubstr("%I in the format is not known"));
  EXPECT_EQ(shown("%i %", job), "the format ends with an open %");
  for (const KnownLetter& known : job_letters()) {  // each has a value for a job without anything
    EXPECT_FALSE(job_value(v1::Job(), known.letter, unix_micros(0)).empty() &&
                 std::string("jPqoZuN").find(known.letter) == std::string::npos)
        << known.letter;
  }
}

v1::Node node(const std::string& name, int free, const std::string& scheduling = "open",
              const std::string& liveness = "up") {
  v1::Node node;
  node.set_name(name);
  node.set_group("training");
  node.set_gpus(8);
  node.set_gpus_free(free);
  node.set_cpus(4);
  if (free < 8) node.add_jobs(1);
  node.set_scheduling(scheduling);
  node.set_liveness(liveness);
  return node;
}

TEST(SlurmWords, StatesOfNodes) {
  EXPECT_EQ(node_state(node("a", 8)).code, "idle");
  EXPECT_EQ(node_state(node("a", 4)).code, "mix");
  EXPECT_EQ(node_state(node("a", 0)).code, "alloc");
  EXPECT_EQ(node_state(node("a", 8, "cordoned")).code, "drain");
  EXPECT_EQ(node_state(node("a", 0, "draining")).code, "drng");
  EXPECT_EQ(node_state(node("a", 0, "open", "down")).name, "down");
  EXPECT_FALSE(node_state(node("a", 0, "open", "suspect")).answers);
}

TEST(SlurmWords, AlikeNodesAreOneLine) {
  const std::vector<v1::Node> nodes = {node("n1", 8), node("n2", 0), node("n3", 8),
                                       node("n4", 8, "drained")};
  const auto fields = parse_format("%#P %.6D %.6t %N", node_letters()).value();
  EXPECT_EQ(format_lines(fields, node_letters(), node_rows(nodes, fields, false), true),
            "PARTITION  NODES  STATE NODELIST\n"
            "training*      2   idle n[1,3]\n"
            "training*      1  alloc n2\n"
            "training*      1  drain n4\n");
  const auto summary = parse_format("%P %F %C", node_letters()).value();
  EXPECT_EQ(format_lines(summary, node_letters(), node_rows(nodes, summary, false), false),
            "training* 1/2/1/4 4/8/4/16\n");
  const auto each = parse_format("%N", node_letters()).value();
  EXPECT_EQ(format_lines(each, node_letters(), node_rows(nodes, each, true), false),
            "n1\nn2\nn3\nn4\n");
}

TEST(SlurmWords, FiltersJobs) {
  EXPECT_TRUE(JobFilter().matches(job_in("queued")));
  EXPECT_FALSE(JobFilter().matches(job_in("failed")));
  EXPECT_TRUE(JobFilter({.any_state = true}).matches(job_in("failed")));
  EXPECT_TRUE(JobFilter({.states = {"F"}}).matches(job_in("failed")));
  EXPECT_FALSE(JobFilter({.users = {"bob"}}).matches(job_in("queued")));
  EXPECT_FALSE(JobFilter({.nodes = {"n1"}}).matches(job_in("queued")));
}

TEST(SlurmWords, JobsAndTasksById) {
  EXPECT_EQ(parse_job_id("17").value(), "17");
  EXPECT_EQ(parse_job_id("17_3").value(), "17_3");
  EXPECT_EQ(parse_job_id("17_*").value(), "17");
  EXPECT_THAT(parse_job_ids("5,17_[1-2,9],18_*").value(),
              ElementsAre("5", "17_1", "17_2", "17_9", "18"));
  EXPECT_THAT(parse_job_ids("").value(), ElementsAre());
  EXPECT_THAT(split_list(",a,,b[1,2],"), ElementsAre("a", "b[1,2]"));
  for (const char* text : {"", "0", "-1", "a", "17a", "17_", "17_x", "17_[", "17_[5-1]", "17_1_2",
                           "17.0", "17_3.batch", "1,2", "99999999999999999999"}) {
    EXPECT_FALSE(parse_job_id(text).is_ok()) << text;
  }
}

TEST(SlurmWords, FilePatterns) {
  const PatternValues values = {
      .job = "7", .name = "x", .user = "ann", .node = "n1", .node_index = 2, .task = 13, .step = 1};
  EXPECT_EQ(expand_pattern("slurm-%j.out", values), "slurm-7.out");
  EXPECT_EQ(expand_pattern("%x_%u_%N-%n-%4t.%s", values), "x_ann_n1-2-0013.1");
  EXPECT_EQ(expand_pattern("100%%-%Z-%", values), "100%-%Z-%");
  EXPECT_EQ(expand_pattern("%99999999999j", values), "0000000007");
}

// However the log is cut, the times before its lines are gone and nothing else.
TEST(SlurmWords, LogWithoutItsTimes) {
  const std::string log =
      "2026-11-20T09:06:30.335Z a b\n2026-11-20T09:06:30.336Z \n2026-11-20T09:06:30.337Z end";
  for (size_t piece = 1; piece <= log.size(); ++piece) {
    std::string out;
    LogText text([&](std::string_view bytes) { out += bytes; });
    for (size_t at = 0; at < log.size(); at += piece) text.add(log.substr(at, piece));
    EXPECT_EQ(out, "a b\n\nend") << piece;
  }
}

}  // namespace
}  // namespace hai::cli::slurm
