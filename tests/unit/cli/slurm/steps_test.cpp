#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/slurm/describe.h"
#include "cli/slurm/job_plan.h"
#include "cli/slurm/job_steps.h"
#include "cli/slurm/sacct_fields.h"
#include "cli/slurm/step_cancel.h"

namespace hai::cli::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

StepRecord step_of(uint32_t number, const char* name) {
  return {.number = number,
          .name = name,
          .tasks = 4,
          .cpus = 8,
          .gpus = 2,
          .nodes = "n[2,1]",
          .node_count = 2,
          .began_at = unix_micros(20'000'000)};
}

StepRecord ended(StepRecord step, int code) {
  step.ended_at = unix_micros(50'000'000);
  step.exit_code = code;
  step.used = {.cpu_time = 61s, .peak_memory_bytes = 3 << 20};
  return step;
}

v1::Job batch_job() {
  v1::Job job;
  job.set_id(7);
  job.set_name("night");
  job.set_user("ann");
  job.set_group("training");
  job.set_parameters("--run-job");
  job.set_attempt(1);
  job.set_node_count(2);
  job.set_state("running");
  job.set_running_at_us(10'000'000);
  job.set_started_at_us(10'000'000);
  return job;
}

std::string line(const std::string& record) { return "2026-11-27T17:00:00.000Z " + record + "\n"; }

TEST(SlurmSteps, AreReadAsTheyWereRecorded) {
  const StepRecord first = ended(step_of(0, "train"), 3);
  const StepRecord second = step_of(1, "save \"it\"");
  const std::string text =
      line(record_of_begin(first)) + line(record_of_begin(second)) + line(record_of_end(first));
  EXPECT_THAT(parse_step_records(text), ElementsAre(first, second));
}

TEST(SlurmSteps, ThatWereCancelledAreRecordedSo) {
  StepRecord step = step_of(0, "train");
  step.socket = "/tmp/hai-slurm-x/steps";
  EXPECT_EQ(parse_step_records(line(record_of_begin(step)))[0], step);
  step = ended(step, 143);
  step.is_cancelled = true;
  const auto read = parse_step_records(line(record_of_begin(step)) + line(record_of_end(step)));
  EXPECT_THAT(read, ElementsAre(step));
  EXPECT_EQ(job_of_step(read[0], batch_job()).state(), "stopped");
}

ParsedWords scancel(const std::vector<std::string>& words) {
  return parse_words(Command::scancel, words).value();
}

TEST(SlurmSteps, AreCancelledByTheirNames) {
  const auto order = cancel_order(scancel({"17.0", "17_3.12", "17.0"}));
  ASSERT_TRUE(order.is_ok());
  EXPECT_THAT(order.value().steps, ElementsAre(StepName{"17", 0}, StepName{"17_3", 12}));
  EXPECT_EQ(order.value().signal, 0);
  EXPECT_EQ(cancel_order(scancel({"17.0,17_3.12"})).value().steps, order.value().steps);
  EXPECT_EQ(cancel_order(scancel({"-s", "USR1", "17.1"})).value().signal, SIGUSR1);
  EXPECT_THAT(cancel_order(scancel({"17"})).value().steps, IsEmpty());
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"17.x"},
                                             {"x.1"},
                                             {"17."},
                                             {"17.-1"},
                                             {"17.1000000000"},
                                             {"17_.1"},
                                             {"17.batch"},
                                             {"17.0,18"},
                                             {"17.0", "18"},
                                             {"-s", "USR1", "17"},
                                             {"-s", "NOSUCH", "17.0"}}) {
    EXPECT_EQ(cancel_order(scancel(bad)).status().code(), Code::invalid_argument) << bad.back();
  }
}

TEST(SlurmSteps, WhatIsNoRecordIsLeftOut) {
  const std::string good = line(record_of_begin(step_of(2, "a")));
  EXPECT_EQ(parse_step_records("junk\n{}\n{\"step\":-1}\n{\"step\":\"2\"}\n[1]\n" + good +
                               "{\"step\":1e9}\n{\"step\":99999999999999999999}")
                .size(),
            1u);
  // The oldest records go; an end alone says too little.
  EXPECT_THAT(parse_step_records(line(record_of_end(ended(step_of(0, "a"), 0)))), IsEmpty());
  const StepRecord odd =
      parse_step_records("{\"step\":1,\"began_us\":5,\"tasks\":-3,\"name\":[]}")[0];
  EXPECT_EQ(odd.tasks, 0);
  EXPECT_EQ(odd.name, "");
  const std::string hostile = R"({"step":1,"began_us":5,"name":"a\u001b[2Jb"})";
  EXPECT_EQ(parse_step_records(hostile)[0].name.find('\x1b'), std::string::npos);
  // A list of nodes that no record can have is left out; what is kept is small.
  StepRecord wide = step_of(3, "w");
  wide.nodes = std::string(100'000, 'n');
  wide.name = std::string(100'000, 'x');
  EXPECT_LT(record_of_begin(wide).size(), 8u << 10);
  EXPECT_EQ(parse_step_records(record_of_begin(wide))[0].nodes, "");
}

std::string rows_of(const v1::Job& job, const std::vector<StepRecord>& steps, const char* fields) {
  return format_accounts(account_rows(job, Allotment{.gpus = 8}, true, steps),
                         parse_account_fields(fields).value(), {.header = false, .delimiter = "|"},
                         unix_micros(60'000'000));
}

TEST(SlurmSteps, HaveRowsOfTheirOwn) {
  const std::vector<StepRecord> steps = {ended(step_of(0, "prep"), 0),
                                         ended(step_of(1, "train"), 9), step_of(2, "watch")};
  constexpr const char* kFields =
      "JobID,JobName,State,ExitCode,ElapsedRaw,NTasks,AllocCPUS,AllocTRES,NodeList,MaxRSS,TotalCPU";
  EXPECT_THAT(rows_of(batch_job(), steps, kFields),
              HasSubstr("\n7.0|prep|COMPLETED|0:0|30|4|8|cpu=8,node=2,gres/gpu=2|n[1-2]|3072K|"
                        "00:01:01\n7.1|train|FAILED|9:0|30|4|8|cpu=8,node=2,gres/gpu=2|n[1-2]|"
                        "3072K|00:01:01\n7.2|watch|RUNNING|0:0|40|4|8|"));
  // What still ran when the attempt ended was ended with it.
  v1::Job over = batch_job();
  over.clear_running_at_us();
  over.set_state("failed");
  over.set_ended_at_us(55'000'000);
  EXPECT_THAT(rows_of(over, steps, "JobID,State,ElapsedRaw"), HasSubstr("7.2|CANCELLED|35\n"));
  over.set_state("suspended");
  over.clear_ended_at_us();
  EXPECT_THAT(rows_of(over, steps, "JobID,State,End"), HasSubstr("7.2|CANCELLED|Unknown\n"));
}

// The step of an srun outside a job stands for the job's program; it is not told twice.
TEST(SlurmSteps, TheStepOfAnSrunIsOneRow) {
  v1::Job job = batch_job();
  (*job.mutable_spec()->mutable_environments())[kPlanVariable] =
      format_plan({.command = {"/bin/hostname"}});
  EXPECT_EQ(rows_of(job, {}, "JobID,JobName"), "7|night\n7.0|hostname\n");
  EXPECT_EQ(rows_of(job, {step_of(0, "hostname")}, "JobID,JobName,NTasks"),
            "7|night|\n7.0|hostname|4\n");
}

TEST(SlurmSteps, AreChosenByName) {
  v1::Job job = batch_job();
  v1::Job task = batch_job();
  task.set_id(12);
  task.mutable_array_task()->set_array(9);
  task.mutable_array_task()->set_index(3);
  const StepFilter filter("7.1,9_3.batch,7.2");
  EXPECT_EQ(filter.jobs(), "7,9_3");
  EXPECT_FALSE(filter.matches(job, ""));
  EXPECT_FALSE(filter.matches(job, "0"));
  EXPECT_TRUE(filter.matches(job, "1"));
  EXPECT_TRUE(filter.matches(task, "batch"));
  EXPECT_FALSE(filter.matches(task, "0"));
  const StepFilter both("7.1,7");
  EXPECT_TRUE(both.matches(job, "0"));
  EXPECT_EQ(StepFilter("20,3,20.1").jobs(), "20,3");  // in the order in which they were named
  EXPECT_TRUE(StepFilter("").matches(job, "0"));
}

TEST(SlurmSteps, AreDescribedWhileTheyRun) {
  EXPECT_EQ(describe_step(step_of(1, "train"), batch_job(), true).substr(0, 18),
            "StepId=7.1 UserId=");
  EXPECT_THAT(describe_step(step_of(1, "train"), batch_job(), false),
              HasSubstr("\n   State=RUNNING Partition=training NodeList=n[1-2]\n   Nodes=2 CPUs=8 "
                        "Tasks=4 Name=train TRES=cpu=8,node=2,gres/gpu=2\n"));
}

}  // namespace
}  // namespace hai::cli::slurm
