#include "common/knobs.h"

#include <gtest/gtest.h>

#include <set>

namespace hai {
namespace {

std::string as_text(const KnobRange& range, int64_t value) {
  if (range.is_percent) {
    return std::to_string(value / 10) + "." + std::to_string(value % 10) + "%";
  }
  return range.is_duration ? format_duration(Duration(value)) : std::to_string(value);
}

TEST(Knobs, DefaultsAreLegal) { EXPECT_TRUE(check_knobs(Knobs()).is_ok()); }

TEST(Knobs, EveryRangeAcceptsItsEndsAndNothingBeyond) {
  std::set<std::string> names;
  for (const KnobRange& range : knob_ranges()) {
    EXPECT_TRUE(names.insert(range.name).second) << range.name;
    Knobs knobs;
    for (const std::string& word : range.words) {
      EXPECT_TRUE(set_knob(knobs, range.name, word).is_ok()) << word;
    }
    if (!range.words.empty()) continue;
    EXPECT_LT(range.low, range.high) << range.name;
    EXPECT_TRUE(set_knob(knobs, range.name, as_text(range, range.low)).is_ok()) << range.name;
    EXPECT_TRUE(set_knob(knobs, range.name, as_text(range, range.high)).is_ok()) << range.name;
    EXPECT_FALSE(set_knob(knobs, range.name, as_text(range, range.low - 1)).is_ok()) << range.name;
    EXPECT_FALSE(set_knob(knobs, range.name, as_text(range, range.high + 1)).is_ok()) << range.name;
    EXPECT_FALSE(set_knob(knobs, range.name, "x").is_ok()) << range.name;
    EXPECT_FALSE(set_knob(knobs, range.name, "").is_ok()) << range.name;
  }
}

// Nothing may be done so often that nothing else is.
TEST(Knobs, NoTimeIsShorterThanTenMillisecondsButNone) {
  for (const KnobRange& range : knob_ranges()) {
    if (!range.is_duration || range.low == 0) continue;
    EXPECT_GE(Duration(range.low), 10ms) << range.name;
  }
}

TEST(Knobs, SetsTheNamedOne) {
  Knobs knobs;
  EXPECT_TRUE(set_knob(knobs, "heartbeat", "7s").is_ok());
  EXPECT_TRUE(set_knob(knobs, "max_requeues", "3").is_ok());
  EXPECT_EQ(knobs.heartbeat, 7s);
  EXPECT_EQ(knobs.max_requeues, 3);
  EXPECT_TRUE(set_knob(knobs, "policy", "fifo").is_ok());
  EXPECT_EQ(knobs.policy, Policy::fifo);
  EXPECT_TRUE(set_knob(knobs, "switch_share", "0.5%").is_ok());
  EXPECT_EQ(knobs.switch_share_permille, 5);
  EXPECT_TRUE(set_knob(knobs, "switch_share", "3%").is_ok());
  EXPECT_EQ(knobs.switch_share_permille, 30);
}

TEST(Knobs, SharesAndPoliciesHaveTheirOwnErrors) {
  Knobs knobs;
  for (const char* bad : {"2", "%", "101%", "2.%", "2.55%", "-1%", "2% ", "0%"}) {
    EXPECT_EQ(set_knob(knobs, "switch_share", bad).message(),
              "switch_share: must be 0.1%..100%, is '" + std::string(bad) + "'");
  }
  EXPECT_EQ(set_knob(knobs, "policy", "lifo").message(),
            "policy: must be fifo or feedback, is 'lifo'");
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

TEST(Knobs, TextsAreReadBack) {
  Knobs knobs;
  knobs.tight_wait = 61s + 7us;
  knobs.switch_share_permille = 25;
  knobs.max_requeues = 3;
  knobs.policy = Policy::fifo;
  Knobs again;
  for (const auto& [name, text] : knobs_as_text(knobs)) {
    EXPECT_TRUE(set_knob(again, name, text).is_ok()) << name << " " << text;
  }
  EXPECT_EQ(knobs_as_text(again), knobs_as_text(knobs));
  EXPECT_EQ(get_knob(again, "tight_wait"), "1m1s7us");
  EXPECT_EQ(get_knob(again, "switch_share"), "2.5%");
  EXPECT_EQ(get_knob(again, "policy"), "fifo");
  EXPECT_EQ(knobs_as_text(knobs).size(), knob_ranges().size());
}

TEST(Knobs, RelationsAreChecked) {
  Knobs knobs;
  knobs.down_after = 39s;
  EXPECT_TRUE(check_knobs(knobs).is_ok());
  knobs.down_after = 38s;
  EXPECT_EQ(check_knobs(knobs).message(),
            "down_after (38s) must be at least agent_lease (30s) + heartbeat (5s) + 4s");
  knobs = Knobs();
  knobs.heartbeat = 11s;
  knobs.down_after = 1min;
  EXPECT_EQ(check_knobs(knobs).message(),
            "agent_lease (30s) must be at least three heartbeats (11s each)");
  knobs = Knobs();
  knobs.append_batch_max = 0;
  EXPECT_EQ(check_knobs(knobs).message(), "append_batch_max: must be 1..100000, is 0");
}

}  // namespace
}  // namespace hai
