#include "common/text_check.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(TextCheck, AcceptsText) {
  for (const char* text :
       {"", "plain\ttext\r\n", "\xc3\xa9", "\xe6\xb7\xb1", "\xf0\x9f\x98\x80", "\xed\x9f\xbf",
        "\xf4\x8f\xbf\xbf",
        // The first and the last of each length.
        "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", " ", "~"}) {
    EXPECT_FALSE(find_bad_text(text).has_value()) << text;
  }
}

TEST(TextCheck, NamesTheLineAndTheFault) {
  const auto nul = find_bad_text(std::string_view("a\nb\0", 4));
  ASSERT_TRUE(nul.has_value());
  EXPECT_EQ(nul->line, 2);
  EXPECT_EQ(nul->what, "a NUL byte");
  EXPECT_EQ(find_bad_text("a\nb\n\nc\xff")->line, 4);
  EXPECT_EQ(find_bad_text("\x01")->what, "the control character 0x01");
  EXPECT_EQ(find_bad_text("\x7f")->what, "the control character 0x7f");
  EXPECT_FALSE(find_bad_text("\x1b", ControlCharacters::allow).has_value());
  EXPECT_FALSE(find_bad_text("\x7f", ControlCharacters::delete_only).has_value());
  EXPECT_TRUE(find_bad_text("\x1b", ControlCharacters::delete_only).has_value());
  EXPECT_TRUE(find_bad_text(std::string_view("\0", 1), ControlCharacters::allow).has_value());
}

TEST(TextCheck, RefusesBrokenUtf8) {
  for (const char* text :
       {"\x80", "\xc3", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff\xfe", "\xe6\xb7", "\xe6\xb7x"}) {
    const auto bad = find_bad_text(text);
    ASSERT_TRUE(bad.has_value());
    EXPECT_EQ(bad->what, "bytes that are not UTF-8");
  }
}

TEST(TextCheck, PrintableTextIsAlwaysGood) {
  EXPECT_EQ(printable("plain \xc3\xa9"), "plain \xc3\xa9");
  EXPECT_EQ(printable("\x7f\xe6\xb7\xb1\xf0\x9f\x98\x80\r"), "?\xe6\xb7\xb1\xf0\x9f\x98\x80 ");
  EXPECT_EQ(printable("a\u202eb\u2066c\u200f"), "a?b?c?");
  EXPECT_EQ(printable(std::string_view("a\0b\x1b\xff\n\tc\xc3", 9)), "a?b??  c?");
}

}  // namespace
}  // namespace hai
