#include "common/gzip/gzip.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

constexpr size_t kMax = 1 << 20;

TEST(Gzip, GivesTheSameTextBack) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i);
  for (const std::string& each : {std::string(), std::string("a"), text}) {
    EXPECT_EQ(gunzip(gzip(each, 1), kMax).text, each);
    EXPECT_EQ(gunzip(gzip(each, 9), kMax).text, each);
  }
  EXPECT_LT(gzip(text, 9).size(), text.size() / 2);
}

TEST(Gzip, ReadsMembersUpToTheBrokenOne) {
  const std::string first = gzip("first ", 6);
  const std::string second = gzip("and second", 6);
  const Gunzipped both = gunzip(first + second, kMax);
  EXPECT_EQ(both.text, "first and second");
  EXPECT_EQ(both.whole_bytes, first.size() + second.size());
  EXPECT_EQ(both.whole_text_bytes, 16u);

  // Cut anywhere, nothing is lost before the cut member, and nothing is made up.
  for (size_t bytes = 0; bytes < second.size(); ++bytes) {
    const Gunzipped cut = gunzip(first + second.substr(0, bytes), kMax);
    EXPECT_EQ(cut.whole_bytes, first.size());
    EXPECT_EQ(cut.whole_text_bytes, 6u);
    EXPECT_EQ(std::string("first and second").substr(0, cut.text.size()), cut.text);
  }
  const Gunzipped zeros = gunzip(first + std::string(4096, '\0'), kMax);
  EXPECT_EQ(zeros.text, "first ");
  EXPECT_EQ(zeros.whole_bytes, first.size());
}

TEST(Gzip, StopsAtTheLimit) {
  const std::string bomb = gzip(std::string(10 << 20, 'x'), 9);
  EXPECT_EQ(gunzip(bomb, kMax).text.size(), kMax);
}

}  // namespace
}  // namespace hai
