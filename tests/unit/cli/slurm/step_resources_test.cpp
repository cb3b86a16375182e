#include "cli/slurm/step/step_resources.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "cli/slurm/step/task_environment.h"

namespace hai::cli::slurm {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kTwo = {"a", "b"};

// Two nodes of four GPUs and eight CPUs.
StepResources two_nodes() {
  StepResources resources(2);
  for (size_t rank = 0; rank < 2; ++rank) {
    resources.announce(rank, {.gpus = {"4", "5", "6", "7"}, .cpus = 8});
  }
  return resources;
}

// "a:4,5 b:", "waits", or the error.
std::string placed(StepResources& resources, uint32_t step, const StepRequest& request,
                   const JobPlan& job = {.tasks = 2}) {
  const auto launches = resources.place(step, request, job, kTwo);
  if (!launches.is_ok()) return std::string(launches.status().message());
  if (!launches.value()) return "waits";
  std::string text;
  for (const RankLaunch& part : *launches.value()) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", kTwo[static_cast<size_t>(part.rank)],
                        part.launch.has_own_gpus != 0 ? part.launch.gpus : "all");
  }
  return text;
}

TEST(StepResources, PackStepsOntoDistinctGpusAndLetTheRestWait) {
  StepResources resources = two_nodes();
  const StepRequest one = {.tasks = 1, .gpus = 1, .exclusive = 1};
  for (uint32_t step = 0; step < 8; ++step) {
    EXPECT_EQ(placed(resources, step, one),
              fmt::format("{}:{}", step < 4 ? "a" : "b", 4 + step % 4));
  }
  EXPECT_EQ(placed(resources, 8, one), "waits");
  resources.release(5);
  EXPECT_EQ(placed(resources, 8, one), "b:5");
}

TEST(StepResources, EveryWayToAskForGpus) {
  StepResources resources = two_nodes();
  EXPECT_EQ(placed(resources, 0, {.nodes = 2, .gpus_per_node = 3}), "a:4,5,6 b:4,5,6");
  EXPECT_EQ(placed(resources, 1, {.tasks = 1, .gpus = 2}), "waits");
  EXPECT_EQ(placed(resources, 1, {.nodes = 2, .tasks = 2, .gpus = 2}), "a:7 b:7");
  resources.release(0);
  EXPECT_EQ(placed(resources, 2, {.tasks = 4, .gpus_per_task = 1}), "a:4,5 b:4,5");
  EXPECT_EQ(placed(resources, 3, {.tasks = 1, .gpus = 1, .node_list = "b"}), "b:6");
  // None, all that others have, and what only looks.
  EXPECT_EQ(placed(resources, 4, {.tasks = 1, .no_gpus = 1}), "a:");
  EXPECT_EQ(placed(resources, 5, {.tasks = 1, .gpus = 4, .overlap = 1}), "a:4,5,6,7");
  EXPECT_EQ(placed(resources, 6, {.tasks = 1}), "a:all");
  EXPECT_EQ(placed(resources, 7, {.tasks = 1, .exclusive = 1}), "waits");  // all of a node
  for (uint32_t step = 0; step < 4; ++step) resources.release(step);
  EXPECT_EQ(placed(resources, 7, {.tasks = 1, .exclusive = 1}), "a:4,5,6,7");
  EXPECT_EQ(placed(resources, 8, {.tasks = 2, .exclusive = 1}, {.tasks = 2, .gpus_per_task = 1}),
            "waits");
}

TEST(StepResources, CpusCountWhereTheStepSaysSo) {
  StepResources resources = two_nodes();
  const StepRequest four = {.tasks = 1, .cpus_per_task = 4, .no_gpus = 1, .exclusive = 1};
  for (uint32_t step = 0; step < 4; ++step) {
    EXPECT_EQ(placed(resources, step, four), step < 2 ? "a:" : "b:");
  }
  EXPECT_EQ(placed(resources, 4, four), "waits");
  EXPECT_EQ(placed(resources, 5, {.tasks = 1, .gpus = 1, .exclusive = 1}), "a:4");
}

TEST(StepResources, WhatCanNeverBeIsRefused) {
  StepResources resources = two_nodes();
  EXPECT_EQ(placed(resources, 0, {.tasks = 1, .gpus = 5}),
            "5 GPUs and 0 CPUs asked for on b, this job has 4 and 8 there");
  EXPECT_THAT(placed(resources, 0, {.tasks = 1, .cpus_per_task = 9, .exclusive = 1}),
              HasSubstr("9 CPUs asked for on b"));
  EXPECT_EQ(placed(resources, 0, {.nodes = 3, .gpus = 3}), "3 nodes asked for, this job has 2");
}

TEST(StepResources, ARankThatHasNotSaidWhatItHasIsWaitedFor) {
  StepResources resources(2);
  EXPECT_EQ(placed(resources, 0, {.tasks = 1, .gpus = 1}), "waits");
  resources.announce(1, {.gpus = {"0"}});
  EXPECT_EQ(placed(resources, 0, {.tasks = 1, .gpus = 1}), "b:0");
  const RankResources resources_of_a =
      resources_of({{"CUDA_VISIBLE_DEVICES", "2,GPU-ab"}, {"SLURM_CPUS_ON_NODE", "16"}});
  EXPECT_EQ(resources_of_a, (RankResources{{"2", "GPU-ab"}, 16}));
  EXPECT_EQ(decode_resources(encode_resources(resources_of_a)).value(), resources_of_a);
  EXPECT_FALSE(decode_resources("nonsense").is_ok());
}

// Whatever comes and goes: no GPU has two owners, and at the end all are free again.
TEST(StepResources, NeverTwoStepsOnOneGpu) {
  std::mt19937 random(7);
  StepResources resources = two_nodes();
  std::map<uint32_t, std::vector<std::string>> owned;
  for (uint32_t step = 0; step < 3'000; ++step) {
    if (!owned.empty() && random() % 2 == 0) {
      auto gone = owned.begin();
      std::advance(gone, random() % owned.size());
      resources.release(gone->first);
      owned.erase(gone);
    }
    StepRequest request = {.tasks = static_cast<int>(1 + random() % 3),
                           .exclusive = static_cast<int>(random() % 2)};
    const int wish = static_cast<int>(1 + random() % 3);
    (random() % 3 == 0   ? request.gpus
     : random() % 2 == 0 ? request.gpus_per_node
                         : request.gpus_per_task) = wish;
    const auto launches = resources.place(step, request, {.tasks = 2}, kTwo);
    if (!launches.is_ok() || !launches.value()) continue;
    for (const RankLaunch& part : *launches.value()) {
      for (const std::string& gpu :
           resources_of({{"CUDA_VISIBLE_DEVICES", part.launch.gpus}}).gpus) {
        owned[step].push_back(fmt::format("{}/{}", part.rank, gpu));
      }
    }
    std::multiset<std::string> all;
    for (const auto& [owner, gpus] : owned) all.insert(gpus.begin(), gpus.end());
    ASSERT_EQ(all.size(), std::set<std::string>(all.begin(), all.end()).size()) << step;
  }
  for (const auto& [step, gpus] : owned) resources.release(step);
  EXPECT_EQ(placed(resources, 9'999, {.nodes = 2, .gpus_per_node = 4}), "a:4,5,6,7 b:4,5,6,7");
}

TEST(StepResources, TasksSeeTheirOwn) {
  const EnvironmentMap rank = {{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}, {"SLURM_GPUS_ON_NODE", "4"}};
  StepLaunch launch = {.node_tasks = 2, .tasks = 2, .nodes = 1, .has_own_gpus = 1, .gpus = "1,3"};
  EnvironmentMap task = task_environment(launch, 0, 1, rank);
  EXPECT_EQ(task.at("CUDA_VISIBLE_DEVICES"), "1,3");
  EXPECT_EQ(task.at("SLURM_STEP_GPUS"), "1,3");
  EXPECT_EQ(task.at("SLURM_GPUS_ON_NODE"), "2");
  launch.gpus_per_task = 1;
  EXPECT_EQ(task_environment(launch, 0, 1, rank).at("CUDA_VISIBLE_DEVICES"), "3");
  launch.gpus = "";
  EXPECT_EQ(task_environment(launch, 0, 0, rank).at("CUDA_VISIBLE_DEVICES"), "");
}

}  // namespace
}  // namespace hai::cli::slurm
