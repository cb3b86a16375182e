#include "cli/table.h"

#include <gtest/gtest.h>

namespace hai::cli {
namespace {

Table small_table() {
  Table table({{"ID", true}, {"NAME", false, true}, {"STATE"}});
  table.add_row({"7", "a-rather-long-name", {"running", Colour::green}});
  table.add_row({"12", "b", {"queued", Colour::blue}});
  return table;
}

TEST(Table, AlignsColumnsAndLeavesNoBlanksAtLineEnds) {
  EXPECT_EQ(small_table().render({}),
            "ID  NAME                STATE\n"
            " 7  a-rather-long-name  running\n"
            "12  b                   queued\n");
}

TEST(Table, ShrinksWhatMayShrinkToTheTerminal) {
  EXPECT_EQ(small_table().render({.is_tty = true, .width = 22}),
            "ID  NAME       STATE\n"
            " 7  a-rather…  running\n"
            "12  b          queued\n");
}

TEST(Table, NeverShrinksBelowALegibleWidth) {
  EXPECT_EQ(small_table().render({.is_tty = true, .width = 5}),
            "ID  NAME      STATE\n"
            " 7  a-rathe…  running\n"
            "12  b         queued\n");
}

TEST(Table, LeavesOutWhatOneCanDoWithout) {
  Table table({{.title = "ID"},
               {.title = "GROUP", .spare = 1},
               {.title = "TIME", .spare = 2},
               {.title = "NOTE", .may_shrink = true, .narrowest = 10}});
  table.add_row({"7", "training", "12:00:00", "a note that is long"});
  EXPECT_EQ(table.render({.is_tty = true, .width = 34}),
            "ID  GROUP     TIME      NOTE\n"
            "7   training  12:00:00  a note th…\n");
  EXPECT_EQ(table.render({.is_tty = true, .width = 32}),
            "ID  GROUP     NOTE\n"
            "7   training  a note that is lo…\n");
  EXPECT_EQ(table.render({.is_tty = true, .width = 20}),
            "ID  NOTE\n"
            "7   a note that is …\n");
  EXPECT_NE(table.render({}).find("12:00:00  a note that is long"), std::string::npos);
}

TEST(Table, PaintsOnlyForPeople) {
  EXPECT_NE(small_table().render({.colour = true}).find("\033[32mrunning\033[0m"),
            std::string::npos);
  EXPECT_EQ(small_table().render({.colour = false}).find('\033'), std::string::npos);
}

TEST(Table, ForeignTextCannotMoveTheCursor) {
  Table table({{"NAME"}});
  table.add_row({"a\033[2Jb\nc"});
  EXPECT_EQ(table.render({}), "NAME\na?[2Jb c\n");
}

TEST(Text, CutsByColumnsNotBytes) {
  EXPECT_EQ(display_width("näh"), 3U);
  EXPECT_EQ(cut("nähe", 4), "nähe");
  EXPECT_EQ(cut("nähen", 4), "näh…");
  EXPECT_EQ(cut("abc", 0), "");
}

TEST(Text, WideLettersTakeTwoColumnsAndMarksNone) {
  EXPECT_EQ(display_width("训练"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("\xff\xe8"), 2U) << "what is no UTF-8 takes a column a byte";
  EXPECT_EQ(cut("训练任务", 5), "训练…");
  EXPECT_EQ(cut("训练任务", 4), "训…") << "half a letter cannot be shown";
  EXPECT_EQ(fit("训练", 6), "训练  ");
  EXPECT_EQ(fit("7", 3, true), "  7");
}

TEST(Text, WrapsBetweenWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped_lines("one two three", 8), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped_lines("abcdefgh", 3), (Lines{"abc", "def", "gh"}));
  EXPECT_EQ(wrapped_lines("训练 任务", 5), (Lines{"训练", "任务"}));
  EXPECT_EQ(wrapped_lines("", 5), (Lines{""}));
}

TEST(Text, ControlCharactersOfTwoBytesAreNone) {
  EXPECT_EQ(printable("a\xC2\x9B"
                      "2Jb"),
            "a?2Jb");
  EXPECT_EQ(printable("nähe"), "nähe");
}

}  // namespace
}  // namespace hai::cli
