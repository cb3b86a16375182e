#include "common/knobs.h"

#include <gtest/gtest.h>

#include <set>

namespace hai {
namespace {

std::string as_text(const KnobRange& range, int64_t value) {
  return range.is_duration ? format_duration(Duration(value)) : std::to_string(value);
}

TEST(Knobs, DefaultsAreLegal) { EXPECT_TRUE(check_knobs(Knobs()).is_ok()); }

TEST(Knobs, EveryRangeAcceptsItsEndsAndNothingBeyond) {
  std::set<std::string> names;
  for (const KnobRange& range : knob_ranges()) {
    EXPECT_TRUE(names.insert(range.name).second) << range.name;
    EXPECT_LT(range.low, range.high) << range.name;
    Knobs knobs;
    EXPECT_TRUE(set_knob(knobs, range.name, as_text(range, range.low)).is_ok()) << range.name;
    EXPECT_TRUE(set_knob(knobs, range.name, as_text(range, range.high)).is_ok()) << range.name;
    EXPECT_FALSE(set_knob(knobs, range.name, as_text(range, range.low - 1)).is_ok()) << range.name;
    EXPECT_FALSE(set_knob(knobs, range.name, as_text(range, range.high + 1)).is_ok()) << range.name;
    EXPECT_FALSE(set_knob(knobs, range.name, "x").is_ok()) << range.name;
    EXPECT_FALSE(set_knob(knobs, range.name, "").is_ok()) << range.name;
  }
}

TEST(Knobs, SetsTheNamedOne) {
  Knobs knobs;
  EXPECT_TRUE(set_knob(knobs, "heartbeat", "7s").is_ok());
  EXPECT_TRUE(set_knob(knobs, "max_requeues", "3").is_ok());
  EXPECT_EQ(knobs.heartbeat, 7s);
  EXPECT_EQ(knobs.max_requeues, 3);
}

TEST(Knobs, ErrorsNameTheKnobAndTheRange) {
  Knobs knobs;
  EXPECT_EQ(set_knob(knobs, "heartbeat", "1h").message(), "heartbeat: must be 100ms..5m, is 1h");
  EXPECT_EQ(set_knob(knobs, "max_requeues", "-1").message(),
            "max_requeues: must be 0..1000, is '-1'");
  const std::string unknown = set_knob(knobs, "heart", "1s").message();
  EXPECT_TRUE(unknown.starts_with("unknown knob 'heart', known are: heartbeat, agent_lease"))
      << unknown;
}

TEST(Knobs, RelationsAreChecked) {
  Knobs knobs;
  knobs.down_after = knobs.agent_lease;
  EXPECT_EQ(check_knobs(knobs).message(), "down_after (30s) must exceed agent_lease (30s)");
  knobs = Knobs();
  knobs.heartbeat = 11s;
  EXPECT_EQ(check_knobs(knobs).message(),
            "agent_lease (30s) must be at least three heartbeats (11s each)");
  knobs = Knobs();
  knobs.append_batch_max = 0;
  EXPECT_EQ(check_knobs(knobs).message(), "append_batch_max: must be 1..100000, is 0");
}

}  // namespace
}  // namespace hai
