#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/slurm/describe.h"
#include "cli/slurm/job_plan.h"
#include "cli/slurm/sacct_fields.h"

namespace hai::cli::slurm {
namespace {

using testing::HasSubstr;

v1::Job ended_job() {
  v1::Job job;
  job.set_id(7);
  job.set_name("a long name");
  job.set_state("failed");
  job.set_exit_code(3);
  job.set_started_at_us(10'000'000);
  job.set_ended_at_us(75'000'000);
  job.set_run_seconds(65);
  job.add_nodes("n1");
  return job;
}

std::string shown(const std::string& fields, const AccountStyle& style) {
  const auto parsed = parse_account_fields(fields);
  if (!parsed.is_ok()) return std::string(parsed.status().message());
  return format_accounts(account_rows(ended_job(), Allotment{.gpus = 4}, true), parsed.value(),
                         style, unix_micros(0));
}

TEST(SlurmAccounts, ColumnsAndFields) {
  EXPECT_EQ(shown("jobid%5,JobName%-6,STATE%8", {}),
            "JobID JobNa+    State \n----- ------ -------- \n    7 a lon+   FAILED \n");
  EXPECT_EQ(shown("JobID,State,NodeList", {.header = true, .delimiter = "|"}),
            "JobID|State|NodeList\n7|FAILED|n1\n");
  EXPECT_EQ(shown("JobID,ExitCode,ElapsedRaw,Elapsed",
                  {.header = false, .delimiter = "|", .ends_with_delimiter = true}),
            "7|3:0|65|00:01:05|\n");
}

TEST(SlurmAccounts, WhatWasUsedIsKnownOnceARankHasEnded) {
  AccountRow row{.job = ended_job(), .given = Allotment{.gpus = 4, .cpus = 4}};
  const UnixTime now = unix_micros(0);
  EXPECT_EQ(account_value(row, "MaxRSS", now), "");
  EXPECT_EQ(account_value(row, "TotalCPU", now), "");
  EXPECT_THAT(describe_efficiency(row.job, row.given, now),
              HasSubstr("\nCPU and memory used: not known (told when a rank ends)\n"));
  row.job.set_cpu_seconds(130);
  row.job.set_peak_memory_bytes(int64_t{3} << 30);
  EXPECT_EQ(account_value(row, "MaxRSS", now), "3145728K");
  EXPECT_EQ(account_value(row, "TotalCPU", now), "00:02:10");
  EXPECT_THAT(
      describe_efficiency(row.job, row.given, now),
      HasSubstr("\nCPU Utilized: 00:02:10\nCPU Efficiency: 50.00% of 00:04:20 core-walltime\n"
                "Memory Utilized: 3.0 GiB (the largest process)\n"));
  EXPECT_THAT(describe_efficiency(row.job, std::nullopt, now),
              HasSubstr("\nCPU Utilized: 00:02:10\nMemory Utilized: 3.0 GiB"));
}

TEST(SlurmAccounts, ErrorsNameTheField) {
  EXPECT_EQ(shown("JobID,Foo", {}), "field 'Foo' is not known: sacct --helpformat lists them");
  EXPECT_THAT(shown("JobID%0", {}), HasSubstr("the width must be 1..1000"));
  EXPECT_THAT(shown("JobID%x", {}), HasSubstr("the width must be 1..1000"));
  EXPECT_THAT(shown("", {}), HasSubstr("field '' is not known"));
}

TEST(SlurmAccounts, EveryFieldHasAValueOrIsEmpty) {
  std::string names = known_account_fields();
  names.pop_back();
  for (char& c : names) c = c == '\n' ? ',' : c;
  EXPECT_THAT(shown(names, {.header = false, .delimiter = "|"}), HasSubstr("|7|"));
  AccountRow killed;
  killed.job.set_exit_code(137);
  EXPECT_EQ(account_value(killed, "ExitCode", unix_micros(0)), "0:9");
  EXPECT_EQ(account_value(killed, "NodeList", unix_micros(0)), "None assigned");
}

TEST(SlurmAccounts, AJobFromSbatchHasItsScriptAsAStep) {
  v1::Job job = ended_job();
  job.set_attempt(1);
  job.set_node_count(2);
  job.set_gpus_per_node(4);
  job.set_parameters("--run-job");
  job.mutable_spec()->set_cpus_per_node(16);
  job.mutable_spec()->set_memory_per_node_bytes(int64_t{2} << 30);
  const auto lines = [&](bool with_steps) {
    return format_accounts(
        account_rows(job, Allotment{.gpus = 8}, with_steps),
        parse_account_fields("JobID,JobName,User,AllocTRES,MaxRSS,State").value(),
        {.header = false, .delimiter = "|"}, unix_micros(0));
  };
  const std::string own =
      fmt::format("7|{}|{}|cpu=32,mem=4096M,node=2,gres/gpu=8||FAILED\n", job.name(), job.user());
  EXPECT_EQ(lines(false), own);
  EXPECT_EQ(lines(true), own + "7.batch|batch||cpu=32,mem=4096M,node=2,gres/gpu=8||FAILED\n");
  (*job.mutable_spec()->mutable_environments())[kPlanVariable] =
      format_plan({.command = {"/bin/hostname", "-f"}});
  EXPECT_THAT(lines(true), HasSubstr("\n7.0|hostname||"));
}

// CPUs and memory are what was given, which is what comes with the GPUs unless the job says
// otherwise.
TEST(SlurmAccounts, TresAreWhatTheAttemptWasGiven) {
  NodeBook nodes;
  for (const char* name : {"n1", "n2"}) {
    nodes[name].set_gpus(8);
    nodes[name].set_cpus(64);
    nodes[name].set_memory_bytes(int64_t{800} << 30);
  }
  const auto given = [&](int gpus, int cpus, int64_t memory) {
    v1::Job job = ended_job();
    job.mutable_spec()->set_cpus_per_node(cpus);
    job.mutable_spec()->set_memory_per_node_bytes(memory);
    v1::Attempt attempt;
    for (const char* name : {"n1", "n2"}) {
      v1::RankInfo& rank = *attempt.add_ranks();
      rank.set_node(name);
      for (int gpu = 0; gpu < gpus; ++gpu) rank.add_gpus(gpu);
    }
    return allotment_of(job, attempt, nodes);
  };
  constexpr int64_t kGib = int64_t{1} << 30;
  EXPECT_EQ(given(2, 0, 0), (Allotment{.gpus = 4, .cpus = 32, .memory_bytes = 400 * kGib}));
  EXPECT_EQ(given(2, 3, kGib), (Allotment{.gpus = 4, .cpus = 6, .memory_bytes = 2 * kGib}));
  EXPECT_EQ(given(8, 3, kGib), (Allotment{.gpus = 16, .cpus = 128, .memory_bytes = 1600 * kGib}));
  EXPECT_EQ(given(0, 4, 0), (Allotment{.gpus = 0, .cpus = 8, .memory_bytes = 100 * kGib}));
  const auto running = [&](int gpus) {
    v1::Job job;
    job.mutable_spec()->set_gpus_per_node(gpus);
    for (const char* name : {"n1", "n2"}) job.add_nodes(name);
    return allotment_of(job, nodes);
  };
  EXPECT_EQ(running(2), given(2, 0, 0)) << "squeue shows of a share what sacct does";
  EXPECT_EQ(running(0), given(8, 0, 0)) << "whole nodes";
  v1::Attempt attempt;
  attempt.add_ranks()->set_node("n1");
  attempt.mutable_ranks(0)->add_gpus(0);
  v1::Job listed = ended_job();
  listed.clear_spec();
  EXPECT_EQ(allotment_of(listed, attempt, nodes), (Allotment{.gpus = 1}))
      << "what it asks for is not known";
  nodes.erase("n2");
  EXPECT_EQ(given(2, 0, 0), (Allotment{.gpus = 4})) << "n2 has left the cluster";

  AccountRow row = {.job = ended_job(), .given = Allotment{4, 32, 400 * kGib}};
  row.job.set_attempt(1);
  row.job.set_node_count(2);
  row.job.set_gpus_per_node(2);
  const auto value = [&](const char* title) { return account_value(row, title, unix_micros(0)); };
  EXPECT_EQ(value("AllocTRES"), "cpu=32,mem=409600M,node=2,gres/gpu=4");
  EXPECT_EQ(value("ReqTRES"), "node=2,gres/gpu=4");
  EXPECT_EQ(value("AllocCPUS"), "32");
  EXPECT_EQ(value("ReqCPUS"), "");
  EXPECT_EQ(value("CPUTimeRAW"), "2080");
}

}  // namespace
}  // namespace hai::cli::slurm
