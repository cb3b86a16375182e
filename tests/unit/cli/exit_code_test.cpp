#include "cli/exit_code.h"

#include <gtest/gtest.h>

namespace hai::cli {
namespace {

TEST(ExitCode, TellsWhatKindOfFailureItWas) {
  EXPECT_EQ(exit_code_of(ok()), 0);
  EXPECT_EQ(exit_code_of(internal("x")), 1);
  EXPECT_EQ(exit_code_of(aborted("x")), 1);
  EXPECT_EQ(exit_code_of(unimplemented("x")), 1);
  EXPECT_EQ(exit_code_of(not_found("x")), 3);
  for (const Status& refused :
       {invalid_argument("x"), already_exists("x"), permission_denied("x"), resource_exhausted("x"),
        failed_precondition("x"), unauthenticated("x")}) {
    EXPECT_EQ(exit_code_of(refused), 4) << to_string(refused.code());
  }
  EXPECT_EQ(exit_code_of(unavailable("x")), 5);
  EXPECT_EQ(exit_code_of(deadline_exceeded("x")), 5);
}

TEST(ExitCode, OfAJobIsItsOwn) {
  EXPECT_EQ(exit_code_of_job("succeeded", 0), 0);
  EXPECT_EQ(exit_code_of_job("succeeded", std::nullopt), 0);
  EXPECT_EQ(exit_code_of_job("failed", 7), 7);
  EXPECT_EQ(exit_code_of_job("failed", std::nullopt), 1);
  EXPECT_EQ(exit_code_of_job("failed", 0), 1);
  EXPECT_EQ(exit_code_of_job("stopped", 143), 143);
  EXPECT_EQ(exit_code_of_job("stopped", std::nullopt), 130);
}

}  // namespace
}  // namespace hai::cli
