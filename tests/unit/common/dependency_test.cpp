#include "common/dependency.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

using C = DependencyCondition;

TEST(Dependency, WordsAndWhatTheyMean) {
  const std::pair<const char*, DependencyWord> kWords[] = {
      {"7", {C::afterok, "7"}},
      {"prep", {C::afterok, "prep"}},
      {"afterok:7", {C::afterok, "7"}},
      {"afterany:prep.2", {C::afterany, "prep.2"}},
      {"afternotok:7", {C::afternotok, "7"}},
      {"after:a-b_c", {C::after, "a-b_c"}},
      {"singleton", {C::singleton, ""}}};
  for (const auto& [text, word] : kWords) {
    const Result<DependencyWord> parsed = parse_dependency(text);
    ASSERT_TRUE(parsed.is_ok()) << text << ": " << parsed.status().message();
    EXPECT_EQ(parsed.value(), word) << text;
    EXPECT_EQ(parse_dependency(format_dependency(word)).value(), word) << text;
  }
  EXPECT_EQ(format_dependency({C::afterok, "7"}), "7");
}

TEST(Dependency, RefusesOthersWithWhatIsWrong) {
  const std::pair<const char*, const char*> kBad[] = {{"", "name or id"},
                                                      {"a b", "name or id"},
                                                      {"afterok:", "name or id"},
                                                      {"afterok:7:8", "name or id"},
                                                      {"007", "name or id"},
                                                      {"1234567890123456789", "name or id"},
                                                      {"later:7", "must be afterok, afterany"},
                                                      {"singleton:7", "names no job"}};
  for (const auto& [text, why] : kBad) {
    const Status status = parse_dependency(text).status();
    EXPECT_EQ(status.code(), Code::invalid_argument) << text;
    EXPECT_NE(status.message().find(why), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace hai
