#include "common/knobs.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
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

// A knob as docs/contract.md has it, without the blanks and commas of its numbers.
struct WrittenKnob {
  std::string standard;
  std::string range;
};

std::map<std::string, WrittenKnob> knobs_of_the_contract() {
  std::map<std::string, WrittenKnob> knobs;
  std::ifstream file(HAI_CONTRACT);
  const std::regex cells(R"(\| `(\w+)` \| ([^|]+) \| ([^|]+) (?=\|))");
  bool is_there = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) is_there = line.ends_with(" Knobs");
    if (!is_there) continue;
    for (std::sregex_iterator each(line.begin(), line.end(), cells), end; each != end; ++each) {
      WrittenKnob knob{(*each)[2], (*each)[3]};
      for (std::string* text : {&knob.standard, &knob.range}) {
        std::erase_if(*text, [](char c) { return c == ' ' || c == ','; });
      }
      EXPECT_TRUE(knobs.emplace((*each)[1], knob).second) << (*each)[1];
    }
  }
  return knobs;
}

// As get_knob() would say it: there are several ways to write one time.
std::string reworded(const std::string& name, const std::string& value) {
  Knobs knobs;
  const Status status = set_knob(knobs, name, value);
  return status.is_ok() ? get_knob(knobs, name) : status.message();
}

TEST(Knobs, AreInTheContractWithTheirDefaultsAndRanges) {
  const std::map<std::string, WrittenKnob> written = knobs_of_the_contract();
  EXPECT_EQ(written.size(), knob_ranges().size());
  for (const KnobRange& range : knob_ranges()) {
    ASSERT_TRUE(written.contains(range.name)) << range.name;
    const WrittenKnob& knob = written.at(range.name);
    EXPECT_EQ(reworded(range.name, knob.standard), get_knob(Knobs(), range.name)) << range.name;
    if (!range.words.empty()) {
      EXPECT_EQ(knob.range, fmt::format("{}", fmt::join(range.words, "")));
      continue;
    }
    const std::string to = "–";
    const size_t middle = knob.range.find(to);
    ASSERT_NE(middle, std::string::npos) << range.name << " " << knob.range;
    const std::string low = knob.range.substr(0, middle);
    const std::string high = knob.range.substr(middle + to.size());
    EXPECT_EQ(reworded(range.name, low), reworded(range.name, as_text(range, range.low)));
    EXPECT_EQ(reworded(range.name, high), reworded(range.name, as_text(range, range.high)));
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
