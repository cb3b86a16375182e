#include "agent/node_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTable =
    "name,group,zone,leaf\nnode-1,training,A,leaf-1\nnode-2,training,B,\n";

TEST(NodeTable, FindsTheNode) {
  EXPECT_EQ(place_in_table(kTable, "t", "node-1").value(), (NodePlace{"training", "A", "leaf-1"}));
  EXPECT_EQ(place_in_table(kTable, "t", "node-2").value(), (NodePlace{"training", "B", ""}));
  EXPECT_EQ(place_in_table("zone,name\nC,n\n", "t", "n").value(), (NodePlace{"", "C", ""}));
}

TEST(NodeTable, JudgesTheWholeTable) {
  const Status absent = place_in_table(kTable, "t", "node-3").status();
  EXPECT_EQ(absent.code(), Code::not_found);
  EXPECT_THAT(absent.message(), HasSubstr("t: has no line for node-3 among its 2"));
  EXPECT_EQ(place_in_table("name\nn1\nn2\nn1\n", "t", "n2").status().message(),
            "t:4: n1 is on line 2 already");
  EXPECT_THAT(place_in_table("name\nn1\nn 2\n", "t", "n1").status().message(),
              HasSubstr("t:3: name: must be"));
  EXPECT_THAT(place_in_table("name,rack\nn1,7\n", "t", "n1").status().message(),
              HasSubstr("t:1: no column 'rack' is known"));
}

}  // namespace
}  // namespace hai
