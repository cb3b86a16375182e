// Which jobs `hai stop 17-20 'sweep-*' --tag lr` means, and which rank's log -f shows in the end.

#include "cli/job_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/failed_rank.h"

namespace hai::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

v1::Job job_of(int64_t id, const std::string& name, const std::string& state,
               const std::string& tag) {
  v1::Job job;
  job.set_id(id);
  job.set_name(name);
  job.set_state(state);
  job.set_group("training");
  job.add_tags(tag);
  return job;
}

std::vector<v1::Job> own() {
  return {job_of(19, "eval", "queued", "lr"), job_of(18, "sweep-2", "running", "lr"),
          job_of(17, "sweep-1", "queued", "x"), job_of(5, "5-9", "queued", "x")};
}

std::vector<std::string> selected(const JobSelection& selection) {
  const auto jobs = select_jobs(selection, own());
  EXPECT_TRUE(jobs.is_ok()) << jobs.status().message();
  return jobs.is_ok() ? jobs.value() : std::vector<std::string>{};
}

TEST(JobNames, RangesPatternsAndFilters) {
  EXPECT_THAT(selected({.words = {"17-18"}}), ElementsAre("17", "18"));
  EXPECT_THAT(selected({.words = {"sweep-*", "99", "nobody"}}),
              ElementsAre("99", "nobody", "17", "18"))
      << "what is no pattern is for the server to judge";
  EXPECT_THAT(selected({.words = {"1-99", "sweep-[12]"}}), ElementsAre("5", "17", "18", "19"));
  EXPECT_THAT(selected({.words = {"5-9"}}), ElementsAre("5-9")) << "a job may be called so";
  EXPECT_THAT(selected({.states = {"queued"}, .tags = {"lr"}}), ElementsAre("19"));
  EXPECT_THAT(selected({.words = {"sweep-*"}, .states = {"queued"}}), ElementsAre("17"));
  EXPECT_THAT(selected({.group = "training"}), ElementsAre("5", "17", "18", "19"));
}

// What ended and was run again since is not run once more, unless it is named.
TEST(JobNames, AmongJobsThatEnded) {
  const std::vector<v1::Job> all = {
      job_of(1, "sweep-1", "failed", "lr"), job_of(2, "sweep-2", "failed", "lr"),
      job_of(3, "sweep-1", "succeeded", "lr"), job_of(4, "sweep-3", "failed", "x"),
      job_of(5, "sweep-2", "running", "lr")};
  constexpr auto kEnded = JobSelection::Among::ended;
  const auto chosen = [&](const JobSelection& selection) {
    return select_jobs(selection, all).value();
  };
  EXPECT_THAT(chosen({.among = kEnded, .words = {"sweep-*"}}), ElementsAre("3", "4"));
  EXPECT_THAT(chosen({.among = kEnded, .states = {"failed"}}), ElementsAre("4"));
  EXPECT_THAT(chosen({.among = kEnded, .words = {"1-5"}}), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(chosen({.among = kEnded, .states = {"failed"}, .array = 9}),
              ElementsAre("1", "2", "4"))
      << "tasks have no names of their own";
  EXPECT_THAT(chosen({.words = {"sweep-*"}}), ElementsAre("5"));
  EXPECT_THAT(select_jobs({.among = kEnded, .tags = {"y"}}, all).status().message(),
              HasSubstr("you have no ended job like that"));
}

TEST(JobNames, TasksOfArrays) {
  EXPECT_THAT(selected({.words = {"17_3", "17_[1-2,9]", "18_*"}}),
              ElementsAre("17_3", "17_1", "17_2", "17_9", "18"));
}

// An array is queued while tasks are to be made, though others run.
TEST(JobNames, StatesChooseTasksAndNoArrays) {
  std::vector<v1::Job> all = {job_of(7, "sweep", "queued", "lr"),
                              job_of(30, "sweep", "running", "lr"),
                              job_of(31, "sweep", "queued", "lr")};
  all[0].mutable_array()->set_tasks(100);
  for (const size_t i : {1u, 2u}) all[i].mutable_array_task()->set_array(7);
  const auto chosen = [&](const JobSelection& selection) {
    return select_jobs(selection, all).value();
  };
  EXPECT_THAT(chosen({.states = {"queued"}}), ElementsAre("31"));
  EXPECT_THAT(chosen({.words = {"sweep*"}, .states = {"running"}}), ElementsAre("30"));
  EXPECT_THAT(chosen({.words = {"6-8"}, .states = {"queued"}}), ElementsAre("31"));
  all.resize(1);  // as without states: arrays, and no tasks
  EXPECT_THAT(chosen({.words = {"sweep*"}}), ElementsAre("7"));
}

TEST(JobNames, ThatMeanNoJobAreErrors) {
  const std::pair<JobSelection, const char*> kBad[] = {
      {{.words = {"train-*"}}, "no unfinished job train-*"},
      {{.words = {"1-3"}}, "no unfinished job 1-3"},
      {{.words = {"20-17"}}, "the lower one"},
      {{.tags = {"none"}}, "no unfinished job like that"},
      {{.words = {"eval"}, .states = {"queued"}}, "not with a job of its own"},
      {{.words = {"eval"}, .user = "bob"}, "not with a job of its own"},
      {{.words = {"train-*"}, .user = "bob"}, "bob has no unfinished job train-*"}};
  for (const auto& [selection, why] : kBad) {
    EXPECT_THAT(select_jobs(selection, own()).status().message(), HasSubstr(why));
  }
}

TEST(FailedRank, IsTheFirstThatEndedByItself) {
  v1::Attempt attempt;
  const auto add = [&](int rank, const std::string& cause, int code) {
    v1::RankInfo& info = *attempt.add_ranks();
    info.set_rank(rank);
    info.set_cause(cause);
    info.set_exit_code(code);
  };
  add(0, "killed", 137);
  EXPECT_EQ(failed_rank(attempt), std::nullopt);
  add(1, "program", 0);
  add(2, "program", 3);
  add(3, "program", 1);
  EXPECT_EQ(failed_rank(attempt), 2);
}

}  // namespace
}  // namespace hai::cli
