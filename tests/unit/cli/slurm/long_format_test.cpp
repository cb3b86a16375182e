#include "cli/slurm/long_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/slurm/describe.h"
#include "cli/slurm/job_plan.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/json_views.h"
#include "common/job_spec.h"

namespace hai::cli::slurm {
namespace {

using testing::HasSubstr;

v1::Job some_job(int64_t id, const std::string& name, const std::string& priority = "low") {
  v1::Job job;
  job.set_id(id);
  job.set_name(name);
  job.set_user("ann");
  job.set_group("training");
  job.set_priority(priority);
  job.set_state("queued");
  job.set_node_count(2);
  job.set_gpus_per_node(4);
  job.set_submitted_at_us(id * 1'000'000);
  return job;
}

std::string long_lines(const std::string& format) {
  const auto fields = parse_long_format(format, job_field_names());
  if (!fields.is_ok()) return std::string(fields.status().message());
  const v1::Job job = some_job(7, "train");
  return format_lines(fields.value(), job_letters(),
                      {[&](char letter) { return job_value(job, letter, unix_micros(0)); }}, true);
}

TEST(LongFormat, NamesFieldsWithWidths) {
  EXPECT_EQ(long_lines("JobID:6,name:.8"), "JOBID     NAME\n7        train\n");
  EXPECT_EQ(long_lines("jobid:5|,state:3|"), "JOBID|STA|\n7    |PEN|\n");
  EXPECT_EQ(long_lines("username"), "USER                \nann                 \n");
  EXPECT_THAT(long_lines("jobid,foo"), HasSubstr("field 'foo' is not known, only these are: acc"));
  EXPECT_THAT(long_lines(""), HasSubstr("field '' is not known"));
  for (const FieldName& field : job_field_names()) {
    EXPECT_TRUE(parse_long_format(field.name, job_field_names()).is_ok());
    EXPECT_TRUE(parse_sort(std::string(1, field.letter), job_letters()).is_ok()) << field.name;
  }
}

std::string sorted(const std::string& order) {
  std::vector<v1::Job> jobs = {some_job(10, "b"), some_job(9, "a", "high"),
                               some_job(2, "b", "high")};
  const auto keys = parse_sort(order, job_letters());
  if (!keys.is_ok()) return std::string(keys.status().message());
  sort_jobs(jobs, keys.value(), unix_micros(0));
  std::string text;
  for (const v1::Job& job : jobs) text += std::to_string(job.id()) + " ";
  return text;
}

TEST(LongFormat, SortsNumbersAsNumbers) {
  EXPECT_EQ(sorted("i"), "2 9 10 ");
  EXPECT_EQ(sorted("-i"), "10 9 2 ");
  EXPECT_EQ(sorted("-p,i"), "2 9 10 ");
  EXPECT_EQ(sorted("j,-V"), "9 10 2 ");
  EXPECT_EQ(sorted("+P"), "10 9 2 ");  // equal ones stay as they are
  EXPECT_THAT(sorted("I"), HasSubstr("'I': letters of -o"));
}

TEST(JsonViews, HaveTheShapesOfSlurm) {
  v1::Job job = some_job(7, "train", "high");
  job.set_state("running");
  job.set_attempt_state("running");
  job.set_attempt(2);
  job.add_nodes("node-1");
  job.add_nodes("node-2");
  job.mutable_spec()->set_timeout_us(90'000'000);
  const auto document = nlohmann::json::parse(jobs_document({job}));
  const auto& shown = document["jobs"][0];
  EXPECT_EQ(shown["job_id"], 7);
  EXPECT_EQ(shown["job_state"][0], "RUNNING");
  EXPECT_EQ(shown["nodes"], "node-[1-2]");
  EXPECT_EQ(shown["restart_cnt"], 1);
  EXPECT_EQ(shown["time_limit"]["number"], 2);  // minutes, rounded up
  EXPECT_EQ(shown["start_time"]["set"], false);
  EXPECT_TRUE(document["errors"].empty());
  const auto accounts = nlohmann::json::parse(accounts_document({{.job = job}}, unix_micros(0)));
  EXPECT_EQ(accounts["jobs"][0]["state"]["current"][0], "RUNNING");
  v1::Node node;
  node.set_name("node-1");
  node.set_group("training");
  node.set_gpus(4);
  node.set_gpus_free(4);
  node.set_cpus(8);
  node.set_liveness("up");
  node.set_scheduling("open");
  const auto nodes = nlohmann::json::parse(nodes_document({node}));
  EXPECT_EQ(nodes["sinfo"][0]["node"]["state"][0], "IDLE");
  EXPECT_EQ(nodes["sinfo"][0]["cpus"]["idle"], 8);
}

TEST(JobWords, TheLineOfAnArrayNamesTheTasksThatAreNoJobsYet) {
  v1::Job job = some_job(21, "sweep");
  job.mutable_array()->set_range("1-9:4%2");
  job.mutable_array()->set_to_come("1-9:4");
  EXPECT_EQ(job_value(job, 'i', unix_micros(0)), "21_[1-9:4%2]");
  job.mutable_array()->set_to_come("1,9");
  EXPECT_EQ(job_value(job, 'i', unix_micros(0)), "21_[1,9%2]");
  job.mutable_array()->set_to_come("");
  EXPECT_EQ(job_value(job, 'i', unix_micros(0)), "21");
}

TEST(Describe, JobsHaveSlurmsKeys) {
  v1::Job job = some_job(7, "train-x1");
  job.set_parameters("--run-job");
  job.set_workspace("/data/ann");
  job.set_state("running");
  job.set_attempt_state("running");
  job.set_attempt(1);
  job.add_nodes("node-2");
  job.add_nodes("node-3");
  (*job.mutable_spec()->mutable_environments())[kPlanVariable] =
      format_plan({.name = "train",
                   .script = "/data/ann/t.sh",
                   .tasks = 8,
                   .submit_host = "login",
                   .output = "%x-%j.log"});
  const std::string text = describe_job(job, Allotment{.gpus = 8}, unix_micros(90'000'000), true);
  for (const char* part :
       {"JobId=7 JobName=train ", " JobState=RUNNING ", " NodeList=node-[2-3] ", " NumTasks=8 ",
        " BatchHost=node-2 ", " StdOut=/data/ann/train-7.log ", " StdErr=/data/ann/train-7.log ",
        " Command=/data/ann/t.sh ", " AllocTRES=node=2,gres/gpu=8 ", " TimeLimit=UNLIMITED ",
        " WorkDir=/data/ann ", " TresPerNode=gres/gpu:4"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  job.mutable_array_task()->set_array(5);
  job.mutable_array_task()->set_index(2);
  (*job.mutable_spec()->mutable_environments())[kPlanVariable] =
      format_plan({.name = "train", .output = "%A_%a.log"});
  job.mutable_spec()->mutable_node_filter()->set_nodes("node-[2-3]");
  job.mutable_spec()->mutable_node_filter()->set_exclude("node-1");
  job.mutable_spec()->mutable_node_filter()->add_labels("fast");
  job.set_gpus_per_node(kNoGpus);
  const std::string task = describe_job(job, std::nullopt, unix_micros(90'000'000), true);
  for (const char* part :
       {" StdOut=/data/ann/5_2.log ", " ReqNodeList=node-[2-3] ExcNodeList=node-1 ",
        " Features=fast ", " TresPerNode=(null)"}) {
    EXPECT_THAT(task, HasSubstr(part));
  }
  EXPECT_THAT(describe_job(some_job(8, "x"), std::nullopt, unix_micros(0), false),
              HasSubstr("\n   NodeList=(null)\n"));
  EXPECT_THAT(describe_efficiency(job, Allotment{.gpus = 8}, unix_micros(0)),
              HasSubstr("GPUs: 8\n"));
}

}  // namespace
}  // namespace hai::cli::slurm
