#include "agent/image/pull_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "agent/image/image_manifest.h"

namespace hai {
namespace {

using testing::ElementsAre;

class PullWatchTest : public testing::Test {
 protected:
  bool goes_on_at(Duration passed, int64_t bytes) {
    bytes_ = bytes;
    return watch_.goes_on(MonoTime(1h) + passed);
  }

  int64_t bytes_ = 0;
  std::vector<std::string> said_;
  PullWatch watch_{4'700'000'000, 1min, [this] { return bytes_; },
                   [this](const std::string& text) { said_.push_back(text); }};
};

TEST_F(PullWatchTest, SaysHowFarItIsLessAndLessOften) {
  for (int second = 0; second <= 100; ++second)
    EXPECT_TRUE(goes_on_at(second * Duration(1s), second * int64_t{10'000'000}));
  ASSERT_GT(said_.size(), 10u);
  EXPECT_LT(said_.size(), 30u);
  EXPECT_EQ(said_.front(), "0.0 of 4.7 GB");
  EXPECT_EQ(said_.back().substr(3), " of 4.7 GB");
}

TEST_F(PullWatchTest, GivesUpWhenNothingComes) {
  EXPECT_TRUE(goes_on_at(0s, 0));
  EXPECT_TRUE(goes_on_at(59s, 0));
  EXPECT_TRUE(goes_on_at(59s, 1'200'000'000));
  EXPECT_TRUE(goes_on_at(118s, 1'200'000'000));
  EXPECT_FALSE(goes_on_at(119s, 1'200'000'000));
  EXPECT_EQ(watch_.text(), "1.2 of 4.7 GB");
}

TEST(PullWatch, KnowsNoTotalOfAFile) {
  PullWatch watch(
      0, 1min, [] { return 2'500'000; }, [](const std::string&) {});
  EXPECT_TRUE(watch.goes_on(MonoTime(1s)));
  EXPECT_EQ(watch.text(), "2.5 MB");
}

TEST(ImageManifest, IsASumOfItsParts) {
  const std::string image =
      R"(time="x" level=warning
{"schemaVersion":2,"config":{"size":7},"layers":[{"size":100},{"size":23}]})";
  EXPECT_EQ(read_manifest(image, "amd64"), (ImageManifest{.bytes = 130, .digest = ""}));
}

TEST(ImageManifest, OfSeveralArchitecturesIsThatOfThisOne) {
  const std::string digest = "sha256:" + std::string(64, 'b');
  const std::string index = R"({"manifests":[{"digest":"sha256:)" + std::string(64, 'a') +
                            R"(","platform":{"architecture":"arm64","os":"linux"}},{"digest":")" +
                            digest + R"(","platform":{"architecture":"amd64","os":"linux"}}]})";
  EXPECT_EQ(read_manifest(index, "amd64").digest, digest);
  EXPECT_EQ(read_manifest(index, "riscv64").digest, "");
}

TEST(ImageManifest, OfAStrangerMayBeAnything) {
  for (const char* text : {"", "{", "[]", "{}", R"({"layers":7,"config":[]})",
                           R"({"manifests":{}})", R"({"layers":[{"size":"x"},7,{"size":-5}]})",
                           R"({"layers":[{"size":18446744073709551615}]})",
                           R"({"manifests":[7,{"platform":7},{"digest":"x"}]})"}) {
    EXPECT_EQ(read_manifest(text, "amd64"), ImageManifest{}) << text;
  }
}

}  // namespace
}  // namespace hai
