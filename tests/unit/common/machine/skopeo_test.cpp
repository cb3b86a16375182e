#include "common/machine/skopeo.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(Complaint, IsTheLastErrorInPlainWords) {
  EXPECT_EQ(complaint_of("time=\"2026\" level=warning msg=\"first\"\n"
                         "time=\"2026\" level=fatal msg=\"Error: \\\"x\\\": unknown\"\n\n"),
            "Error: \"x\": unknown");
  EXPECT_EQ(complaint_of("plain words\n"), "plain words");
  EXPECT_EQ(complaint_of(" \n"), "it said nothing");
}

TEST(Complaint, IsOneLineThatEnds) {
  const std::string long_line = complaint_of("msg=\"" + std::string(5'000, 'x') + "\"\n");
  EXPECT_LE(long_line.size(), 403u);
  EXPECT_EQ(complaint_of("msg=\"one\\ntwo\"").find('\n'), std::string::npos);
}

}  // namespace
}  // namespace hai
