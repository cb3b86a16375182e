#include "agent/shim/complain.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/os/files.h"

namespace hai {
namespace {

// Found by tests/e2e/chaos: on a full disk the shim could not write its rank's status, could not
// say so either, and died of that.
TEST(Complain, SurvivesAFullDisk) {
  const UniqueFd kept(::dup(STDERR_FILENO));
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.is_open());
  ::dup2(full.get(), STDERR_FILENO);
  EXPECT_NO_THROW(complain("status not written: no space left on device"));
  ::dup2(kept.get(), STDERR_FILENO);
}

TEST(Complain, IsALineOnStderr) {
  testing::internal::CaptureStderr();
  complain("no good");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "no good\n");
}

}  // namespace
}  // namespace hai
