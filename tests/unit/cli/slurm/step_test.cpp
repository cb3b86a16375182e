#include "cli/slurm/step/step.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/slurm/step/frame.h"
#include "cli/slurm/step/output_writer.h"
#include "cli/slurm/step/task_environment.h"
#include "cli/slurm/step/task_runner.h"
#include "common/hostlist.h"

namespace hai::cli::slurm {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kNodes = {"n3", "n1", "n2"};

// "n3:0+2 n1:2+1": node, first task, tasks.
std::string planned(StepRequest request, JobPlan job = {.tasks = 3}) {
  const auto launches = plan_step(request, job, kNodes);
  if (!launches.is_ok()) return std::string(launches.status().message());
  std::string text;
  for (const RankLaunch& part : launches.value()) {
    text +=
        fmt::format("{}{}:{}+{}", text.empty() ? "" : " ", kNodes[static_cast<size_t>(part.rank)],
                    part.launch.first_task, part.launch.node_tasks);
  }
  return text;
}

TEST(SlurmStep, ChoosesNodesAndTasks) {
  EXPECT_EQ(planned({}), "n3:0+1 n1:1+1 n2:2+1");
  EXPECT_EQ(planned({}, {.tasks = 7}), "n3:0+3 n1:3+2 n2:5+2");
  EXPECT_EQ(planned({.tasks = 1}), "n3:0+1");
  EXPECT_EQ(planned({.tasks = 5}), "n3:0+2 n1:2+2 n2:4+1");
  EXPECT_EQ(planned({.nodes = 1}), "n3:0+1");
  EXPECT_EQ(planned({.nodes = 2}, {.tasks = 12, .tasks_per_node = 4}), "n3:0+4 n1:4+4");
  EXPECT_EQ(planned({.nodes = 3}, {.tasks = 12}), "n3:0+4 n1:4+4 n2:8+4");
  EXPECT_EQ(planned({.nodes = 1, .tasks = 1, .node_list = "n2"}), "n2:0+1");
  EXPECT_EQ(planned({.tasks_per_node = 2}), "n3:0+2 n1:2+2 n2:4+2");
  EXPECT_EQ(planned({.tasks = 4, .tasks_per_node = 2}), "n3:0+2 n1:2+2");
  EXPECT_EQ(planned({.nodes = 4}), "4 nodes asked for, this job has 3");
  EXPECT_EQ(planned({.nodes = 2, .node_list = "n1"}),
            "2 nodes asked for, this job has 1 that may be used");
  EXPECT_EQ(planned({.node_list = "n9"}), "node n9 is not one of this job's: n3,n[1-2]");
  EXPECT_THAT(planned({.node_list = "n["}), HasSubstr("host list"));
}

TEST(SlurmStep, TravelsUnchanged) {
  const StepRequest request = {.nodes = 2,
                               .tasks = 5,
                               .terminal = {.is_wanted = 1, .rows = 24, .columns = 80},
                               .node_list = "n[1-2]",
                               .kill_on_bad_exit = true,
                               .directory = "/a b",
                               .command = {"x", "", "\xff\n"},
                               .environment = {"A=1", "B="}};
  EXPECT_EQ(decode_request(encode_request(request)).value(), request);
  const StepLaunch launch = {.first_task = 3,
                             .node_tasks = 2,
                             .node_index = 1,
                             .tasks = 5,
                             .tasks_by_node = "3,2",
                             .node_list = "n[1-2]",
                             .nodes = 2,
                             .gpus_per_task = 1,
                             .terminal = {.is_wanted = 1, .rows = 1, .columns = 2},
                             .directory = "/",
                             .command = {"x"}};
  EXPECT_EQ(decode_launch(encode_launch(launch)).value(), launch);
  const std::string body = encode_request(request);
  for (size_t cut = 0; cut < body.size(); ++cut) {
    EXPECT_FALSE(decode_request(body.substr(0, cut)).is_ok()) << cut;
  }
  EXPECT_FALSE(decode_request(encode_launch({.command = {"x"}})).is_ok());
}

TEST(SlurmStep, FramesComeBackHoweverTheyAreCut) {
  const std::vector<Frame> sent = {{FrameKind::start, 1, 2, "body"},
                                   {FrameKind::bye, 0, 0, ""},
                                   {FrameKind::resize, 1, 0, "24 80"},
                                   {FrameKind::output, 7, 9, std::string(1'000, '\0')}};
  std::string bytes;
  for (const Frame& frame : sent) bytes += encode(frame);
  std::string arrived;
  std::vector<Frame> got;
  for (const char c : bytes) {
    arrived += c;
    const auto frames = take_frames(arrived);
    ASSERT_TRUE(frames.is_ok());
    got.insert(got.end(), frames.value().begin(), frames.value().end());
  }
  EXPECT_EQ(got, sent);
  std::string nonsense = "GET / HTTP/1.1\r\n\r\n";
  EXPECT_FALSE(take_frames(nonsense).is_ok());
}

TEST(SlurmStep, HostListsKeepTheirOrder) {
  EXPECT_EQ(hostlist_in_order({"n1", "n2", "n3"}), "n[1-3]");
  EXPECT_EQ(hostlist_in_order({"n3", "n1", "n2"}), "n3,n[1-2]");
  EXPECT_EQ(hostlist_in_order({}), "");
  std::vector<std::string> many;
  for (int i = 0; i < 1'250; ++i) many.push_back(fmt::format("n{}", (i * 7) % 1'250));
  EXPECT_EQ(parse_hostlist(hostlist_in_order(many)).value(), many);
}

TEST(SlurmStep, EachTaskHasItsOwnVariables) {
  const EnvironmentMap rank = {{"CUDA_VISIBLE_DEVICES", "0,1,2,3"},
                               {"HAI_NODE_RANK", "1"},
                               {"HAI_SLURM_KEY", "secret"},
                               {"PATH", "/node"}};
  const StepLaunch launch = {.first_task = 2,
                             .node_tasks = 2,
                             .node_index = 1,
                             .tasks = 4,
                             .tasks_by_node = "2(x2)",
                             .node_list = "n[1-2]",
                             .nodes = 2,
                             .cpus_per_task = 3,
                             .gpus_per_task = 2,
                             .environment = {"PATH=/script", "HAI_NODE_RANK=0", "MASTER_PORT=1",
                                             "CUDA_VISIBLE_DEVICES=9"}};
  const EnvironmentMap task = task_environment(launch, 5, 1, rank);
  EXPECT_EQ(task.at("SLURM_PROCID"), "3");
  EXPECT_EQ(task.at("SLURM_LOCALID"), "1");
  EXPECT_EQ(task.at("SLURM_NODEID"), "1");
  EXPECT_EQ(task.at("SLURM_NTASKS"), "4");
  EXPECT_EQ(task.at("SLURM_STEP_ID"), "5");
  EXPECT_EQ(task.at("SLURM_TASKS_PER_NODE"), "2(x2)");
  EXPECT_EQ(task.at("SLURM_CPUS_PER_TASK"), "3");
  EXPECT_EQ(task.at("CUDA_VISIBLE_DEVICES"), "2,3");  // its half of what this node has
  EXPECT_EQ(task.at("HAI_NODE_RANK"), "1");           // of its node, not of the script's
  EXPECT_EQ(task.at("PATH"), "/script");
  // The commands are found where the task runs, not where the script does.
  const EnvironmentMap with_bin =
      task_environment({.node_tasks = 1,
                        .tasks = 1,
                        .nodes = 1,
                        .environment = {"PATH=/first/bin:/usr/bin", "HAI_SLURM_BIN=/first/bin"}},
                       0, 0, {{"HAI_SLURM_BIN", "/second/bin"}});
  EXPECT_EQ(with_bin.at("PATH"), "/second/bin:/usr/bin");
  EXPECT_EQ(task.at("MASTER_PORT"), "1");
  EXPECT_FALSE(task.contains("HAI_SLURM_KEY"));
}

TEST(SlurmStep, ScriptSeesABatchJob) {
  const EnvironmentMap env = script_environment(
      {{"HAI_SLURM_KEY", "secret"},
       {"HAI_SLURM_FUNCTIONS", R"({"BASH_FUNC_ml%%":"() { :; }"})"},
       {"SLURM_NTASKS_PER_NODE", "1"},
       {"CUDA_VISIBLE_DEVICES", "0"}},
      {.name = "my job", .tasks = 5, .partition = "training", .submit_dir = "/s"}, {"n2", "n1"});
  EXPECT_EQ(env.at("SLURM_JOB_NAME"), "my job");
  EXPECT_EQ(env.at("SLURM_JOB_NODELIST"), "n2,n1");
  EXPECT_EQ(env.at("SLURM_NTASKS"), "5");
  EXPECT_EQ(env.at("SLURM_TASKS_PER_NODE"), "3,2");
  EXPECT_EQ(env.at("SLURM_SUBMIT_DIR"), "/s");
  EXPECT_FALSE(env.contains("SLURM_NTASKS_PER_NODE"));  // nobody asked for it
  EXPECT_EQ(env.at("BASH_FUNC_ml%%"), "() { :; }");
  EXPECT_FALSE(env.contains("HAI_SLURM_FUNCTIONS"));
  EXPECT_FALSE(env.contains("HAI_SLURM_KEY"));
}

EndedChild await_child() {
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
  return take_ended_child();
}

TEST(SlurmTasks, CanBeKilledAsSoonAsTheyAreStarted) {
  std::vector<Frame> told;
  TaskRunner runner({}, [&](const Frame& frame) { told.push_back(frame); });
  for (uint32_t step = 0; step < 100; ++step) {
    runner.start(step, {.node_tasks = 1, .tasks = 1, .nodes = 1, .command = {"/bin/sleep", "60"}});
    runner.kill(step);
    ASSERT_TRUE(runner.on_exit(await_child()));
    ASSERT_EQ(told.back().kind, FrameKind::task_ended);
    ASSERT_EQ(told.back().step, step);
    ASSERT_EQ(decode_task_end(told.back().body).code, 137);
  }
  EXPECT_TRUE(runner.is_idle());
}

TEST(SlurmTasks, TellTheirOutputAndHowTheyEnded) {
  std::string output;
  std::string error;
  std::string end;
  TaskEnd last;
  TaskRunner runner({{"PATH", "/node"}}, [&](const Frame& frame) {
    if (frame.kind == FrameKind::output) output += frame.body;
    if (frame.kind == FrameKind::error_output) error += frame.body;
    if (frame.kind != FrameKind::task_ended) return;
    last = decode_task_end(frame.body);
    end = std::to_string(last.code);
  });
  const auto run = [&](const std::vector<std::string>& command, const std::string& directory) {
    output = error = end = "";
    runner.start(1, {.node_tasks = 1,
                     .tasks = 1,
                     .nodes = 1,
                     .directory = directory,
                     .command = command,
                     .environment = {"PATH=/usr/bin:/bin"}});
    ASSERT_TRUE(runner.on_exit(await_child()));
  };
  run({"sh", "-c", "pwd; echo e >&2; exit 3"}, "/usr");
  EXPECT_EQ(output + error + end, "/usr\ne\n3");
  run({"no-such-program"}, "/");
  EXPECT_EQ(error + end, "hai-slurm: error: no-such-program: No such file or directory\n127");
  run({"true"}, "/no/such/place");
  EXPECT_EQ(error + end, "hai-slurm: error: /no/such/place: No such file or directory\n127");
  // All that the task waited for counts.
  run({"sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exit 5"}, "/");
  EXPECT_EQ(last.code, 5);
  EXPECT_GT(last.used.cpu_time, 10ms);
  EXPECT_GT(last.used.peak_memory_bytes, 100 << 10);
  EXPECT_EQ(take_ended_child().pid, 0);
}

TEST(SlurmTasks, AnEndIsReadAsItWasWritten) {
  const TaskEnd end = {.code = 137, .used = {.cpu_time = 1'500ms, .peak_memory_bytes = 4'096}};
  EXPECT_EQ(encode_task_end(end), "137 1500000 4096");
  EXPECT_EQ(decode_task_end("137 1500000 4096").code, 137);
  EXPECT_EQ(decode_task_end("137 1500000 4096").used, end.used);
  EXPECT_EQ(decode_task_end("3").code, 3);  // of a version that did not tell more
  EXPECT_EQ(decode_task_end("3").used, TaskUsage{});
}

TEST(SlurmOutput, EveryTaskHasItsFileAndItsLabel) {
  char folder[] = "/tmp/hai-slurm-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string base = folder;
  {
    OutputWriter writer({.label = true, .output = base + "/%t", .error = base + "/errors"});
    writer.write(0, false, "a\nb");
    writer.write(1, true, "e\n");
    writer.write(0, false, "c\n");
    for (const uint32_t task : {0u, 1u}) writer.finish(task);
  }
  const auto text_of = [&](const std::string& name) {
    std::ifstream file(base + "/" + name);
    EXPECT_TRUE(file.is_open()) << name;
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(text_of("0"), "0: a\n0: bc\n");
  EXPECT_EQ(text_of("1"), "");  // said nothing, but is there
  EXPECT_EQ(text_of("errors"), "1: e\n");
  std::filesystem::remove_all(base);
}

}  // namespace
}  // namespace hai::cli::slurm
