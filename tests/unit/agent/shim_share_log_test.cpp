// Who reads a job's log on the node: processes of other users look.

#include "agent/shim/share_log.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace hai {
namespace {

constexpr uid_t kAnn = 54'321;
constexpr uid_t kBob = 54'322;
constexpr gid_t kEverybodys = 54'000;  // the primary group of both

// Whether somebody can open `path` so.
bool can_open(uid_t user, const std::string& path, int flags) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const bool is_he = ::setgroups(0, nullptr) == 0 &&
                       ::setresgid(kEverybodys, kEverybodys, kEverybodys) == 0 &&
                       ::setresuid(user, user, user) == 0;
    ::_exit(!is_he ? 2 : ::open(path.c_str(), flags, 0600) >= 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ShareLog, IsForItsUserAndNotForHisGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root runs jobs of others";
  std::string root = "/tmp/hai-share-log-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  ::chmod(root.c_str(), 0755);
  const std::string log_dir = root + "/log";
  ASSERT_EQ(::mkdir(log_dir.c_str(), 0750), 0);
  ASSERT_EQ(::chown(log_dir.c_str(), 0, kEverybodys), 0) << "as it was left before";
  const Status shared = share_log(log_dir, kAnn);
  ASSERT_TRUE(shared.is_ok()) << shared.message();
  const std::string file = log_dir + "/0000000000000000.log";
  const int made = ::open(file.c_str(), O_CREAT | O_WRONLY, 0640);
  ASSERT_GE(made, 0);
  ::close(made);
  EXPECT_TRUE(can_open(kAnn, file, O_RDONLY));
  EXPECT_TRUE(can_open(kAnn, log_dir, O_RDONLY | O_DIRECTORY));
  EXPECT_FALSE(can_open(kBob, file, O_RDONLY)) << "he has the same primary group";
  EXPECT_FALSE(can_open(kBob, log_dir, O_RDONLY | O_DIRECTORY));
  EXPECT_FALSE(can_open(kAnn, file, O_WRONLY));
  EXPECT_FALSE(can_open(kAnn, log_dir + "/new", O_CREAT | O_WRONLY));
  std::filesystem::remove_all(root);
}

TEST(ShareLog, SaysWhereItCannot) {
  EXPECT_EQ(share_log("/proc/self", kAnn).code(), Code::failed_precondition);
}

}  // namespace
}  // namespace hai
