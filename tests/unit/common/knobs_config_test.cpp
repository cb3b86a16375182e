#include "common/config/knobs_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai {
namespace {

std::vector<std::string> read(std::string_view text, Knobs* knobs) {
  YamlReader reader(text);
  read_knobs(reader, knobs);
  std::vector<std::string> lines;
  for (const FieldError& error : reader.finish()) lines.push_back(to_string(error));
  return lines;
}

TEST(KnobsConfig, SetsKnobs) {
  Knobs knobs;
  EXPECT_TRUE(read("knobs:\n  heartbeat: 1s\n  max_requeues: 3\n", &knobs).empty());
  EXPECT_EQ(knobs.heartbeat, 1s);
  EXPECT_EQ(knobs.max_requeues, 3);
}

TEST(KnobsConfig, ReportsAllErrors) {
  Knobs knobs;
  EXPECT_THAT(read("knobs:\n  heartbeat: 2h\n  max_requeues: many\n  hartbeat: 1s\n", &knobs),
              testing::ElementsAre("line 2: knobs.heartbeat: must be 100ms..5m, is 2h",
                                   "line 3: knobs.max_requeues: must be 0..1000, is 'many'",
                                   "line 4: knobs.hartbeat: unknown key, did you mean heartbeat?"));
  EXPECT_THAT(
      read("knobs: {down_after: 30s}\n", &knobs),
      testing::ElementsAre("line 1: knobs: down_after (30s) must be at least agent_lease (30s) + "
                           "heartbeat (5s) + 4s"));
}

}  // namespace
}  // namespace hai
