#include "common/job_spec.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(Priority, WordsAndNumbersAgree) {
  for (const Priority priority : kPriorities) {
    EXPECT_EQ(parse_priority(to_string(priority)).value(), priority);
    EXPECT_EQ(parse_priority(std::to_string(static_cast<int>(priority))).value(), priority);
  }
  EXPECT_EQ(parse_priority("auto").value(), Priority::automatic);
  EXPECT_EQ(parse_priority("-1").value(), Priority::automatic);
  EXPECT_EQ(parse_priority("VERY_HIGH").value(), Priority::very_high);
}

TEST(Priority, RefusesOthersAndListsTheAllowed) {
  for (const char* text : {"", "urgent", "11", "-2", "10 ", " 10", "+10", "1e1", "automatic"}) {
    EXPECT_FALSE(parse_priority(text).is_ok()) << text;
  }
  EXPECT_EQ(parse_priority("urgent").status().message(),
            "unknown priority 'urgent', must be one of extreme_high (50), very_high (40), high "
            "(30), above_normal (20), normal (10), under_normal (8), below_normal (5), low (0), "
            "auto (-1)");
  EXPECT_TRUE(parse_priority("hihg").status().message().starts_with(
      "unknown priority 'hihg': did you mean high?, must be one of "));
}

TEST(Priority, ListIsHighestFirst) {
  for (size_t i = 1; i < std::size(kPriorities); ++i) EXPECT_GT(kPriorities[i - 1], kPriorities[i]);
}

TEST(JobSpecWords, AreThoseOfTheFiles) {
  EXPECT_EQ(to_string(LaunchMode::per_gpu), "per_gpu");
  EXPECT_EQ(to_string(EnvStyle::slurm), "slurm");
  EXPECT_EQ(to_string(CrossZone::never), "never");
  EXPECT_EQ(to_string(static_cast<Priority>(7)), "unknown");
}

}  // namespace
}  // namespace hai
