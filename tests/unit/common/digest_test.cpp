#include "common/digest.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(Digest, IsTheSameOnEveryMachine) {
  EXPECT_EQ(Digest().hex(), "cbf29ce484222325");
  EXPECT_EQ(Digest().add("job").add(17).add(Duration(5s)).add(true).hex(), "ab3652afadd5142c");
}

TEST(Digest, DependsOnOrderAndBorders) {
  EXPECT_NE(Digest().add(1).add(2).value(), Digest().add(2).add(1).value());
  EXPECT_NE(Digest().add("ab").add("c").value(), Digest().add("a").add("bc").value());
  EXPECT_NE(Digest().add("").value(), Digest().value());
}

TEST(Digest, TakesStrongTypes) {
  EXPECT_EQ(Digest().add(JobId{7}).value(), Digest().add(int64_t{7}).value());
  EXPECT_EQ(Digest().add(unix_micros(7)).value(), Digest().add(7).value());
}

}  // namespace
}  // namespace hai
