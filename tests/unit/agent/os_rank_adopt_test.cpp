// What survives the agent, and what happens when the shim does not.

#include "tests/unit/agent/os_rank_fixture.h"

namespace hai {
namespace {

using testing::HasSubstr;

class RankAdoptTest : public RankHostTest {
 protected:
  void restart_host() {
    host_.reset();
    statuses_.clear();
    start_host();
  }
  pid_t wait_shim_pid(const RankKey& key) {
    pid_t pid = 0;
    run_until([&] { return (pid = shim_pid(rank_directory(options_.data_dir, key))) > 0; });
    return pid;
  }
};

TEST_F(RankAdoptTest, RunningRankGoesOn) {
  start_host();
  LaunchRank job = script(
      "echo $$ > pid; i=0; while [ ! -e go ]; do echo $i; i=$((i+1)); sleep 0.005; done; echo $i; "
      "exit 8");
  job.proof = "of the launch";
  launch(job);
  ASSERT_TRUE(wait_file("pid"));
  ASSERT_TRUE(wait_running(job.key));
  const pid_t shim = wait_shim_pid(job.key);
  host_.reset();
  const size_t before = log_lines(job.key).size();
  ASSERT_TRUE(poll([&] { return log_lines(job.key).size() > before + 5; }))
      << "nobody reads its output";
  restart_host();
  EXPECT_EQ(statuses_[job.key].phase, RankPhase::running);
  EXPECT_EQ(statuses_[job.key].proof, "of the launch");
  EXPECT_TRUE(is_process_alive(std::stoi(workspace_file("pid"))));
  EXPECT_EQ(wait_shim_pid(job.key), shim);
  write_script("go", "");
  EXPECT_EQ(wait_exited(job.key).exit_code, 8);
  const std::vector<std::string> lines = log_lines(job.key);
  for (size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i], std::to_string(i));
}

TEST_F(RankAdoptTest, AdoptedRankObeys) {
  start_host();
  const LaunchRank first = script("sleep 1000", 1);
  const LaunchRank second = script("sleep 1000", 2);
  launch(first);
  launch(second);
  ASSERT_TRUE(wait_running(first.key) && wait_running(second.key));
  restart_host();
  host_->kill(first.key);
  host_->suspend({second.key, 10ms});
  EXPECT_EQ(wait_exited(first.key).cause, ExitCause::killed);
  EXPECT_EQ(wait_exited(second.key).cause, ExitCause::grace_over);
}

TEST_F(RankAdoptTest, ExitWithoutAnAgentIsReportedUntilForgotten) {
  start_host();
  const LaunchRank job = script("while [ ! -e go ]; do sleep 0.005; done; echo end; exit 9");
  launch(job);
  ASSERT_TRUE(wait_running(job.key));
  host_.reset();
  write_script("go", "");
  ASSERT_TRUE(poll([] { return live_descendants() == 0; }));
  for (int i = 0; i < 2; ++i) {
    restart_host();
    EXPECT_EQ(statuses_[job.key].phase, RankPhase::exited);
    EXPECT_EQ(statuses_[job.key].cause, ExitCause::program);
    EXPECT_EQ(statuses_[job.key].exit_code, 9);
  }
  host_->forget(job.key);
  restart_host();
  EXPECT_TRUE(statuses_.empty());
  EXPECT_THAT(log_lines(job.key), testing::ElementsAre("end"));
}

TEST_F(RankAdoptTest, KilledShimMeansLostAndNoProcessLeft) {
  start_host();
  const LaunchRank job =
      script("(setsid bash -c 'trap \"\" TERM; touch started; sleep 1000; true' &); sleep 1000");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  ::kill(wait_shim_pid(job.key), SIGKILL);
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::lost);
  EXPECT_EQ(live_descendants(), 0u);
  restart_host();
  EXPECT_EQ(statuses_[job.key].cause, ExitCause::lost);
}

TEST_F(RankAdoptTest, ShimKilledWhileTheAgentWasAway) {
  options_.use_cgroups = false;  // Found by environment alone.
  start_host();
  const LaunchRank job = script("(setsid bash -c 'touch started; sleep 1000; true' &); sleep 1000");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  const pid_t shim = wait_shim_pid(job.key);
  host_.reset();
  ::kill(shim, SIGKILL);
  ASSERT_TRUE(poll([&] { return !is_process_alive(shim); }));
  restart_host();
  EXPECT_EQ(wait_exited(job.key).cause, ExitCause::lost);
  EXPECT_EQ(live_descendants(), 0u);
}

TEST_F(RankAdoptTest, ShimToldToEndEndsItsRank) {
  start_host();
  const LaunchRank job = script("sleep 1000");
  launch(job);
  ASSERT_TRUE(wait_running(job.key));
  ::kill(wait_shim_pid(job.key), SIGTERM);
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::lost);
  EXPECT_THAT(status.message, HasSubstr("signal 15"));
}

TEST_F(RankAdoptTest, HangUpDoesNothing) {
  start_host();
  const LaunchRank job = script("while [ ! -e go ]; do sleep 0.005; done; exit 2");
  launch(job);
  ASSERT_TRUE(wait_running(job.key));
  ::kill(wait_shim_pid(job.key), SIGHUP);
  write_script("go", "");
  EXPECT_EQ(wait_exited(job.key).exit_code, 2);
}

TEST_F(RankAdoptTest, OrdersBeforeTheShimAnswersAreKept) {
  start_host();
  const LaunchRank job = script("sleep 1000");
  launch(job);
  host_->kill(job.key);  // It cannot be connected yet.
  EXPECT_EQ(wait_exited(job.key).cause, ExitCause::killed);
}

// It was forgotten while it ran on: its job began elsewhere.
TEST_F(RankAdoptTest, ARankWhoseLaunchFileIsDamagedIsEndedBeforeItIsLost) {
  start_host();
  const LaunchRank job = script("trap '' TERM; touch started; sleep 1000; true");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  host_.reset();
  std::ofstream(rank_dir(job.key) + "/launch.json", std::ios::trunc) << "{\"half";
  restart_host();
  ASSERT_TRUE(statuses_.contains(job.key));
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::lost);
  EXPECT_THAT(status.message, HasSubstr("could not read what it had launched"));
  EXPECT_EQ(live_descendants(), 0u);
}

// With a full disk its end was lost with the agent that had heard of it, and its job ran again.
TEST_F(RankAdoptTest, AnEndThatCannotBeWrittenIsKeptByTheShim) {
  start_host();
  const LaunchRank job = script("touch started; while [ ! -e go ]; do sleep 0.005; done; exit 9");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  host_.reset();
  // As of a full disk: the new status cannot be made beside the old one.
  const std::string in_the_way = rank_dir(job.key) + "/status.json.tmp";
  std::filesystem::create_directories(in_the_way + "/x");
  write_script("go", "");
  ASSERT_TRUE(poll([] { return live_descendants() == 1; })) << "only the shim is left";
  for (int i = 0; i < 2; ++i) {
    restart_host();
    EXPECT_EQ(wait_exited(job.key).exit_code, 9);
  }
  std::filesystem::remove_all(in_the_way);
  ASSERT_TRUE(poll([] { return live_descendants() == 0; }));
  restart_host();
  EXPECT_EQ(statuses_[job.key].exit_code, 9);
  EXPECT_EQ(statuses_[job.key].cause, ExitCause::program);
}

TEST_F(RankAdoptTest, HalfMadeDirectoriesAreDropped) {
  std::filesystem::create_directories(options_.data_dir + "/ranks/5.1.0");
  std::filesystem::create_directories(options_.data_dir + "/ranks/6.1.0");
  std::ofstream(options_.data_dir + "/ranks/6.1.0/launch.json") << "{\"half";
  start_host();
  EXPECT_TRUE(statuses_.empty());
  EXPECT_FALSE(std::filesystem::exists(options_.data_dir + "/ranks/5.1.0"));
  EXPECT_FALSE(std::filesystem::exists(options_.data_dir + "/ranks/6.1.0"));
}

TEST_F(RankAdoptTest, RecycledPidIsNotMistakenForTheShim) {
  start_host();
  const LaunchRank job = script("sleep 1000");
  launch(job);
  ASSERT_TRUE(wait_running(job.key));
  const pid_t shim = wait_shim_pid(job.key);
  const RankDirectory directory = rank_directory(options_.data_dir, job.key);
  std::ofstream(directory.lock_file(), std::ios::in) << ::getpid() << " 1\n                    ";
  EXPECT_EQ(shim_pid(directory), 0);
  EXPECT_TRUE(is_shim_alive(directory));
  ::kill(shim, SIGKILL);
  EXPECT_EQ(wait_exited(job.key).cause, ExitCause::lost);
}

}  // namespace
}  // namespace hai
