#include "cli/suggest.h"

#include <gtest/gtest.h>

namespace hai::cli {
namespace {

TEST(MissingName, IsWhatTheServerDidNotFind) {
  const MissingName job = missing_name("ann has no job named trian");
  EXPECT_TRUE(job.is_job && !job.is_node);
  EXPECT_EQ(job.name, "trian");
  EXPECT_EQ(missing_name("ann has no unfinished job named trian").name, "trian");
  EXPECT_EQ(missing_name("options.depends_on: no unfinished or recent job x").name, "x");
  const MissingName node = missing_name("node noed-1 does not exist");
  EXPECT_TRUE(node.is_node && !node.is_job);
  EXPECT_EQ(node.name, "noed-1");
  EXPECT_EQ(missing_name("node noed-1 does not exist: nothing was changed").name, "noed-1");
  EXPECT_TRUE(missing_name("user an does not exist").is_user);
  const MissingName any = missing_name("there is no job and no node x y");
  EXPECT_TRUE(any.is_job && any.is_node);
  EXPECT_EQ(any.name, "x y");
}

TEST(MissingName, IsEmptyForNumbersAndOtherThings) {
  EXPECT_EQ(missing_name("job 17 does not exist").name, "");
  EXPECT_EQ(missing_name("options.depends_on: no unfinished or recent job 17").name, "");
  EXPECT_EQ(missing_name("incident 4 does not exist").name, "");
  EXPECT_EQ(missing_name("").name, "");
}

}  // namespace
}  // namespace hai::cli
