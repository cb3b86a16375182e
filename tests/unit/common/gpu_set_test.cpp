#include "common/gpu_set.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(GpuSet, FirstHoldsTheLowestIndices) {
  EXPECT_EQ(GpuSet::first(0).bits, 0u);
  EXPECT_EQ(GpuSet::first(8).bits, 0xffu);
  EXPECT_EQ(GpuSet::first(64).count(), 64);
}

TEST(GpuSet, TextForm) {
  EXPECT_EQ(to_string(GpuSet{}), "");
  EXPECT_EQ(to_string(GpuSet{0b100011}), "0,1,5");
  EXPECT_EQ(to_string(GpuSet{uint64_t{1} << 63}), "63");
  EXPECT_EQ(parse_gpu_set("").value(), GpuSet{});
  EXPECT_EQ(parse_gpu_set("5,0,1").value().bits, 0b100011u);
  EXPECT_EQ(parse_gpu_set(to_string(GpuSet::first(64))).value(), GpuSet::first(64));
}

TEST(GpuSet, RefusesBadText) {
  for (const char* text : {",", "1,", ",1", "64", "-1", "a", "1 ,2", "1,,2", "1;2", "0,0", "1.5",
                           "99999999999999999999"}) {
    EXPECT_FALSE(parse_gpu_set(text).is_ok()) << text;
  }
  EXPECT_EQ(parse_gpu_set("3,3").status().message(), "GPU list '3,3': 3 is named twice");
}

TEST(GpuSet, Algebra) {
  const GpuSet a{0b1100};
  const GpuSet b{0b0110};
  EXPECT_EQ((a | b).bits, 0b1110u);
  EXPECT_EQ((a & b).bits, 0b0100u);
  EXPECT_EQ(without(a, b).bits, 0b1000u);
}

}  // namespace
}  // namespace hai
