// Starting, ending and watching ranks.

#include <pwd.h>

#include "agent/os/log_source.h"
#include "agent/os/log_spool.h"
#include "common/python_environment.h"
#include "tests/unit/agent/os_rank_fixture.h"

namespace hai {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(RankHostTest, ReportsTheExitCode) {
  start_host();
  const LaunchRank job = script("exit 7");
  launch(job);
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::program);
  EXPECT_EQ(status.exit_code, 7);
  EXPECT_GE(status.ended_at, status.started_at);
  EXPECT_GT(status.started_at, UnixTime{});
}

TEST_F(RankHostTest, ReportsTheSignal) {
  start_host();
  const LaunchRank job = script("kill -SEGV $$");
  launch(job);
  EXPECT_EQ(wait_exited(job.key).exit_code, 128 + SIGSEGV);
}

TEST_F(RankHostTest, LaunchesOnceHoweverOftenItIsTold) {
  start_host();
  const LaunchRank job = script("echo once >> count; exit 0");
  launch(job);
  launch(job);
  wait_exited(job.key);
  launch(job);
  EXPECT_EQ(workspace_file("count"), "once\n");
  EXPECT_EQ(statuses_[job.key].phase, RankPhase::exited);
}

TEST_F(RankHostTest, RunsInWorkspaceWithEnvironmentAndParameters) {
  start_host();
  LaunchRank job = script(
      R"(echo "$PWD|$1|$2|$HAI_JOB_ID|$MINE|$HAI_SOCKET|$TMPDIR"; test -w "$TMPDIR" && echo ok)");
  job.parameters = "a 'b c'";
  job.environments = {{"MINE", "x y"}};
  launch(job);
  wait_exited(job.key);
  const std::string directory = rank_dir(job.key);
  EXPECT_THAT(log_lines(job.key), ElementsAre(workspace_ + "|a|b c|1|x y|" + directory +
                                                  "/job.sock|" + directory + "/tmp",
                                              "ok"));
}

TEST_F(RankHostTest, RunsPythonAndExecutablesAndPrograms) {
  start_host();
  write_script("a.py", "import sys; print('python', sys.argv[1]); sys.exit(3)");
  write_script("binary", "#!/bin/sh\necho direct; exit 4");
  LaunchRank python = order("a.py", 1);
  python.parameters = "x";
  const LaunchRank direct = order("binary", 2);
  LaunchRank program = order("expr", 3);
  program.parameters = "2 + 3";
  for (const LaunchRank& job : {python, direct, program}) launch(job);
  EXPECT_EQ(wait_exited(python.key).exit_code, 3);
  EXPECT_THAT(log_lines(python.key), ElementsAre("python x"));
  EXPECT_EQ(wait_exited(direct.key).exit_code, 4);
  EXPECT_EQ(wait_exited(program.key).exit_code, 0);
  EXPECT_THAT(log_lines(program.key), ElementsAre("5"));
}

TEST_F(RankHostTest, ProgramsInheritNothing) {
  start_host();
  LaunchRank job = order("ls");
  job.parameters = "/proc/self/fd";
  launch(job);
  wait_exited(job.key);
  EXPECT_THAT(log_lines(job.key), ElementsAre("0", "1", "2", "3")) << "3 is the directory itself";
}

TEST_F(RankHostTest, PerGpuStartsOneProcessEach) {
  start_host();
  LaunchRank job = script("echo rank $RANK of $WORLD_SIZE; exit 0");
  job.launch = LaunchMode::per_gpu;
  job.env_style = EnvStyle::torch;
  job.gpus = GpuSet::first(4);
  launch(job);
  EXPECT_EQ(wait_exited(job.key).exit_code, 0);
  EXPECT_THAT(log_lines(job.key), testing::UnorderedElementsAre("rank 0 of 4", "rank 1 of 4",
                                                                "rank 2 of 4", "rank 3 of 4"));
}

TEST_F(RankHostTest, PerGpuFailureEndsTheOthers) {
  start_host();
  LaunchRank job = script("[ $LOCAL_RANK = 2 ] && exit 9; sleep 1000");
  job.launch = LaunchMode::per_gpu;
  job.gpus = GpuSet::first(4);
  launch(job);
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::program);
  EXPECT_EQ(status.exit_code, 9);
}

TEST_F(RankHostTest, SaysWhyItCouldNotStart) {
  start_host();
  LaunchRank no_workspace = order("x.py", 1);
  no_workspace.workspace = workspace_ + "/missing";
  const LaunchRank no_entrypoint = order("x.py", 2);
  write_script("plain", "#!/bin/sh\n");
  std::filesystem::permissions(workspace_ + "/plain", std::filesystem::perms(0644));
  const LaunchRank not_executable = order("plain", 3);
  const LaunchRank no_program = order("no-such-program", 4);
  LaunchRank bad_parameters = script("exit 0", 5);
  bad_parameters.parameters = "'open";
  std::filesystem::create_directory(workspace_ + "/folder.sh");
  const LaunchRank folder = order("folder.sh", 6);
  LaunchRank no_environment = script("exit 0", 7);
  no_environment.environments[kPythonEnvironment] = workspace_ + "/venv";
  LaunchRank nobodys_environment = script("exit 0", 8);
  nobodys_environment.environments[kPythonEnvironment] = "llm[no-such-user]";
  const std::map<RankKey, std::string> expected = {
      {no_environment.key, "Python environment " + workspace_ + "/venv: its bin/python3 cannot be"},
      {nobodys_environment.key, "Python environment llm[no-such-user]: its bin/python3 cannot be"},
      {no_workspace.key, "workspace " + workspace_ + "/missing does not exist on this node"},
      {no_entrypoint.key, "entrypoint x.py does not exist in " + workspace_},
      {not_executable.key, "is not executable for user root"},
      {no_program.key, "entrypoint no-such-program is neither in " + workspace_ + " nor in PATH"},
      {bad_parameters.key, "the quote ' at character 1 is not closed"},
      {folder.key, "Is a directory"}};
  for (const LaunchRank& job : {no_workspace, no_entrypoint, not_executable, no_program,
                                bad_parameters, folder, no_environment, nobodys_environment}) {
    launch(job);
  }
  for (const auto& [key, message] : expected) {
    const RankStatus status = wait_exited(key);
    EXPECT_EQ(status.cause, ExitCause::launch_failed) << to_string(key);
    EXPECT_THAT(status.message, HasSubstr(message));
  }
}

TEST_F(RankHostTest, ProgramsOfItsPythonEnvironmentGoBeforeAllOthers) {
  start_host();
  std::filesystem::create_directories(workspace_ + "/venv/bin");
  write_script("venv/bin/python3",
               "#!/bin/sh\necho that of $VIRTUAL_ENV, home ${PYTHONHOME-unset}");
  LaunchRank job = order("x.py", 1);
  write_script("x.py", "");
  job.environments[kPythonEnvironment] = workspace_ + "/venv";
  job.environments["PYTHONHOME"] = "/usr";
  launch(job);
  EXPECT_EQ(wait_exited(job.key).exit_code, 0);
  EXPECT_THAT(log_lines(job.key), ElementsAre("that of " + workspace_ + "/venv, home unset"));
}

TEST_F(RankHostTest, MissingShimIsTheNodesFault) {
  options_.shim_path = root_ + "/no-shim";
  start_host();
  const LaunchRank job = script("exit 0");
  launch(job);
  EXPECT_EQ(statuses_[job.key].phase, RankPhase::starting) << "told from inside launch()";
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::lost);
  EXPECT_THAT(status.message, HasSubstr("cannot start " + root_ + "/no-shim"));
}

TEST_F(RankHostTest, ShimThatGivesUpIsTheNodesFault) {
  write_script("broken-shim", "#!/bin/sh\necho no good >&2; exit 1");
  options_.shim_path = workspace_ + "/broken-shim";
  start_host();
  const LaunchRank job = script("exit 0");
  launch(job);
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::lost);
  EXPECT_EQ(status.message, "hai-shim gave up: no good");
}

TEST_F(RankHostTest, RunsAsTheSubmitter) {
  if (::geteuid() != 0 || ::getpwnam("nobody") == nullptr)
    GTEST_SKIP() << "needs root and a user nobody";
  start_host();
  LaunchRank job = script(
      "id -un; echo $HOME; touch $TMPDIR/mine; cat $HAI_LOG_DIR/*.log >/dev/null && echo readable");
  job.user = "nobody";
  launch(job);
  EXPECT_EQ(wait_exited(job.key).exit_code, 0);
  EXPECT_THAT(log_lines(job.key), ElementsAre("nobody", ::getpwnam("nobody")->pw_dir, "readable"));
}

TEST_F(RankHostTest, SocketBelongsToTheSubmitter) {
  if (::geteuid() != 0 || ::getpwnam("nobody") == nullptr)
    GTEST_SKIP() << "needs root and a user nobody";
  start_host();
  write_script("ask.py", R"(
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(os.environ["HAI_SOCKET"])
s.sendall(b'{"op":"receive_suspend_command"}\n'); print(s.recv(1000).decode().strip())
try:
  socket.socket(socket.AF_UNIX).connect(os.path.dirname(os.environ["HAI_SOCKET"]) + "/control.sock"); print("open")
except PermissionError: print("closed")
)");
  LaunchRank job = order("ask.py");
  job.user = "nobody";
  launch(job);
  wait_exited(job.key);
  EXPECT_THAT(log_lines(job.key), ElementsAre(R"({"ok":true,"suspend":false})", "closed"));
}

TEST_F(RankHostTest, UnknownUserCannotStart) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  options_.unknown_user_runs_as_self = false;
  start_host();
  LaunchRank job = script("exit 0");
  job.user = "no-such-user";
  launch(job);
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::launch_failed);
  EXPECT_THAT(status.message, HasSubstr("user no-such-user does not exist on this node"));
}

TEST_F(RankHostTest, UnknownUserMayRunAsSelf) {
  start_host();
  LaunchRank job = script("exit 0");
  job.user = "no-such-user";
  launch(job);
  EXPECT_EQ(wait_exited(job.key).cause, ExitCause::program);
}

TEST_F(RankHostTest, KeepsStdoutAndStderrInOrderAndTheLastBytes) {
  start_host();
  const LaunchRank job =
      script("for i in $(seq 1 500); do echo out $i; echo err $i >&2; done; printf last");
  launch(job);
  wait_exited(job.key);
  std::vector<std::string> expected;
  for (int i = 1; i <= 500; ++i) {
    expected.push_back("out " + std::to_string(i));
    expected.push_back("err " + std::to_string(i));
  }
  expected.push_back("last");
  EXPECT_EQ(log_lines(job.key), expected);
  EXPECT_THAT(log_of(job.key), testing::MatchesRegex("20[0-9-]+T[0-9:.]+Z out 1\n.*"));
}

TEST_F(RankHostTest, BigOutputIsComplete) {
  start_host();
  const LaunchRank job = script("seq 1 100000");
  launch(job);
  wait_exited(job.key);
  const std::vector<std::string> lines = log_lines(job.key);
  ASSERT_EQ(lines.size(), 100000u);
  EXPECT_EQ(lines.back(), "100000");
}

TEST_F(RankHostTest, LogSourceFollowsARank) {
  start_host();
  OsLogSource logs(options_.data_dir, [this](const RankKey& key) { return host_->is_live(key); });
  const LaunchRank job =
      script("echo one; touch written; while [ ! -e go ]; do sleep 0.01; done; echo two");
  EXPECT_THAT(logs.read({.key = job.key}).error, HasSubstr("no log of rank 1.1.0"));
  launch(job);
  EXPECT_EQ(logs.read({.key = job.key}).error, "") << "it is only starting";
  ASSERT_TRUE(wait_file("written"));
  LogChunk first;
  ASSERT_TRUE(run_until([&] { return !(first = logs.read({.key = job.key})).data.empty(); }));
  EXPECT_THAT(first.data, testing::EndsWith(" one\n"));
  EXPECT_FALSE(first.end);
  EXPECT_FALSE(logs.read({.key = job.key, .offset = first.next_offset}).end);
  write_script("go", "");
  wait_exited(job.key);
  const LogChunk rest = logs.read({.key = job.key, .offset = first.next_offset});
  EXPECT_THAT(rest.data, testing::EndsWith(" two\n"));
  EXPECT_TRUE(rest.end);
  EXPECT_EQ(logs.read({.key = job.key, .tail_bytes = 40}).data, rest.data);
  EXPECT_EQ(logs.read({.key = job.key, .max_bytes = 3}).data.size(), 3u);
  host_->forget(job.key);
  EXPECT_TRUE(logs.read({.key = job.key, .offset = rest.next_offset}).end);
}

TEST_F(RankHostTest, ForgetKeepsTheLog) {
  start_host();
  const LaunchRank job = script("echo hello");
  launch(job);
  host_->forget(job.key);  // Not while it runs.
  wait_exited(job.key);
  EXPECT_FALSE(host_->is_live(job.key));
  host_->forget(job.key);
  EXPECT_TRUE(run_until([&] { return !std::filesystem::exists(rank_dir(job.key)); }));
  EXPECT_THAT(log_lines(job.key), ElementsAre("hello"));
  EXPECT_TRUE(host_->adopt().empty());
}

// Of a database before this one, perhaps of another user.
TEST_F(RankHostTest, ALogThatIsThereIsNotGoneOnWith) {
  start_host();
  const LaunchRank job = script("echo mine");
  const std::string logs = log_directory(options_.data_dir, job.key);
  std::filesystem::create_directories(logs);
  LogSpool::Source source;
  LogSpool::open(logs, {}).value().append(source, "another user's\n", UnixTime{});
  ASSERT_FALSE(std::filesystem::is_empty(logs));
  launch(job);
  wait_exited(job.key);
  EXPECT_THAT(log_lines(job.key), ElementsAre("mine"));
}

TEST_F(RankHostTest, DeepDataDirectoryGetsShortSockets) {
  options_.data_dir = root_ + "/" + std::string(60, 'd') + "/" + std::string(60, 'e');
  start_host();
  const LaunchRank job = script("echo $HAI_SOCKET > socket; touch $TMPDIR/x; sleep 1000");
  launch(job);
  ASSERT_TRUE(wait_file("socket"));
  ASSERT_TRUE(run_until([&] { return workspace_file("socket").ends_with("\n"); }));
  std::string path = workspace_file("socket");
  path.pop_back();
  EXPECT_EQ(JobClient(path).ask(R"({"op":"receive_suspend_command"})"),
            R"({"ok":true,"suspend":false})");
  host_->kill(job.key);
  wait_exited(job.key);
  host_->forget(job.key);
  EXPECT_TRUE(run_until([&] {
    return !std::filesystem::exists(std::filesystem::path(path).parent_path()) &&
           !std::filesystem::exists(rank_dir(job.key));
  }));
}

TEST_F(RankHostTest, DataDirectoryHasOneOwner) {
  start_host();
  EXPECT_EQ(OsRankHost::open(options_, loop_, loop_.io_context()).status().code(),
            Code::failed_precondition);
}

TEST_F(RankHostTest, ManyRanksAtOnce) {
  start_host();
  for (int64_t job = 1; job <= 20; ++job) launch(script("exit 5", job));
  for (int64_t job = 1; job <= 20; ++job) {
    EXPECT_EQ(wait_exited({.job = {job}, .attempt = 1, .rank = 0}).exit_code, 5);
  }
}

}  // namespace
}  // namespace hai
