#include "common/bytes.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(Bytes, ReadsEveryForm) {
  const struct {
    const char* text;
    int64_t expected;
  } kCases[] = {{"0", 0},
                {"4096", 4096},
                {"4096B", 4096},
                {"1K", 1000},
                {"1Ki", 1024},
                {"1KiB", 1024},
                {"500M", 500'000'000},
                {"3G", 3'000'000'000},
                {"2T", 2'000'000'000'000},
                {"1P", 1'000'000'000'000'000},
                {"3Mi", int64_t{3} << 20},
                {"1.125Ki", 1152},
                {"64Gi", int64_t{64} << 30},
                {"1.5Ti", int64_t{1536} << 30},
                {"1.25Gi", int64_t{1280} << 20},
                {"1024Pi", int64_t{1} << 60}};
  for (const auto& c : kCases) {
    const auto parsed = parse_bytes(c.text);
    ASSERT_TRUE(parsed.is_ok()) << c.text;
    EXPECT_EQ(parsed.value(), c.expected) << c.text;
  }
}

TEST(Bytes, RefusesWhatIsNone) {
  for (const char* text :
       {"", "G", "-1", "+1", "1 G", "1Gx", "1g", "5.5", "5.5B", ".5G", "5.G", "1.2.3G", "0x10",
        "1.2345G", "1025Pi", "99999999999999999999", "9223372036854775807K"}) {
    EXPECT_FALSE(parse_bytes(text).is_ok()) << text;
  }
  EXPECT_EQ(parse_bytes("64 GB").status().message(),
            "size '64 GB': write it like 64Gi, 500M or 4096");
  EXPECT_EQ(parse_bytes("1.2345G").status().message(),
            "size '1.2345G': at most 3 digits after the point");
  EXPECT_EQ(parse_bytes("1025Pi").status().message(), "size '1025Pi' is above 1024Pi");
  const std::string long_one(100, '9');
  for (const std::string& text : {long_one, "x" + long_one, "1." + long_one + "G"}) {
    const std::string message = parse_bytes(text).status().message();
    EXPECT_TRUE(message.starts_with("size '" + text.substr(0, 64) + "'")) << message;
  }
}

TEST(Bytes, FormatAndParseAgree) {
  EXPECT_EQ(format_bytes(int64_t{64} << 30), "64Gi");
  EXPECT_EQ(format_bytes(int64_t{1536} << 20), "1536Mi");
  EXPECT_EQ(format_bytes(1000), "1000");
  EXPECT_EQ(format_bytes(0), "0");
  for (int64_t bytes = 1; bytes < int64_t{1} << 58; bytes = bytes * 3 + 1) {
    EXPECT_EQ(parse_bytes(format_bytes(bytes)).value(), bytes);
  }
}

}  // namespace
}  // namespace hai
