// Programs that do not use the SDK are told by SIGTERM (docs/design/0009).

#include "tests/unit/agent/os_rank_fixture.h"

namespace hai {
namespace {

class RankToldTest : public RankHostTest {};

TEST_F(RankToldTest, APlainProgramIsToldBySigterm) {
  start_host();
  write_script("job.py", R"(
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: (open("saved", "w").close(), sys.exit(0)))
open("started", "w").close()
while True: signal.sigtimedwait([], 0.05)
)");
  const LaunchRank job = order("job.py");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  host_->suspend({job.key, 10min, true});
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::left);
  EXPECT_EQ(status.exit_code, 0);
  EXPECT_FALSE(status.uses_sdk);
  EXPECT_TRUE(std::filesystem::exists(workspace_ + "/saved"));
}

TEST_F(RankToldTest, AWrapperOfAPlainProgramIsNotToldInItsPlace) {
  start_host();
  write_script("job.py", R"(
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
open("started", "w").close()
while True: signal.sigtimedwait([], 0.05)
)");
  const LaunchRank job = script("python3 job.py; echo $? > code; exit 3");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  host_->suspend({job.key, 10min, true});
  EXPECT_EQ(wait_exited(job.key).exit_code, 3) << "bash goes on when its program has left";
  std::string code;
  std::ifstream(workspace_ + "/code") >> code;
  EXPECT_EQ(code, "7");
}

TEST_F(RankToldTest, WhoCannotSaveDoesNotIdle) {
  start_host();
  const LaunchRank job = script("sleep 1000; exit 0");
  launch(job);
  ASSERT_TRUE(wait_running(job.key));
  host_->suspend({job.key, 10min, true});
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::left);
  EXPECT_EQ(status.exit_code, 128 + SIGTERM);
}

TEST_F(RankToldTest, WhoIsForkedMeanwhileIsToldToo) {
  start_host();
  const LaunchRank job =
      script("touch started; i=0; while [ $i -lt 3000 ]; do sleep 1000 & i=$((i + 1)); done; wait");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  host_->suspend({job.key, 10min, true});
  EXPECT_EQ(wait_exited(job.key).cause, ExitCause::left);
}

TEST_F(RankToldTest, WhoUsesTheSdkIsNotEndedByIt) {
  start_host();
  const LaunchRank job = script("sleep 1000");
  launch(job);
  ASSERT_TRUE(wait_running(job.key));
  JobClient program(job_socket(rank_dir(job.key)));
  program.ask(R"({"op":"receive_suspend_command"})");
  ASSERT_TRUE(run_until([&] { return statuses_[job.key].uses_sdk; }));
  host_->suspend({job.key, 300ms, true});
  EXPECT_EQ(wait_exited(job.key).cause, ExitCause::grace_over);
}

TEST_F(RankToldTest, WhoIgnoresTheSignalEndsAsItMeansTo) {
  start_host();
  const LaunchRank job =
      script("trap '' TERM; touch started; while [ ! -e go ]; do sleep 0.01; done; exit 0");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  host_->suspend({job.key, 10min, true});
  ASSERT_TRUE(run_until([&] { return statuses_[job.key].suspend_notified; }));
  write_script("go", "");
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::program) << "all its processes ignore it: nobody was told";
  EXPECT_EQ(status.exit_code, 0);
}

}  // namespace
}  // namespace hai
