#include "common/hex.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(Hex, HasEachByteAndGivesItBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  const std::string digits = to_hex(bytes);
  EXPECT_EQ(digits.size(), 512u);
  EXPECT_EQ(digits.substr(0, 8), "00010203");
  EXPECT_EQ(digits.substr(508), "feff");
  EXPECT_EQ(from_hex(digits), bytes);
  EXPECT_EQ(to_hex(""), "");
}

TEST(Hex, IsReadInEitherCaseAndNothingElseIs) {
  EXPECT_EQ(from_hex("0aFf"), (std::string{'\x0a', '\xff'}));
  EXPECT_EQ(from_hex(""), "");
  for (const char* bad : {"0", "0g", "0x", " 0", "00\n", "-1", "000"}) {
    EXPECT_EQ(from_hex(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace hai
