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

}  // namespace
}  // namespace hai::cli
