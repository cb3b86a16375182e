#include "common/python_environment.h"

#include <gmock/gmock.h>

namespace hai {
namespace {

TEST(PythonEnvironment, IsAFolderOrANameOfSomebody) {
  EXPECT_EQ(parse_python_environment("202111").value(), (PythonEnvironment{.name = "202111"}));
  EXPECT_EQ(parse_python_environment("llm[ann]").value(),
            (PythonEnvironment{.name = "llm", .owner = "ann"}));
  EXPECT_EQ(parse_python_environment("/srv//envs/./llm/").value(),
            (PythonEnvironment{.folder = "/srv/envs/llm"}));
}

TEST(PythonEnvironment, IsNothingThatLeadsElsewhere) {
  for (const char* wrong : {"", "..", ".hidden", "-p", "a/b", "../x", "a b", "llm[", "llm[]",
                            "llm]", "llm[ann]x", "llm[a/b]", "[ann]", "/a:/b", "/a\nb"}) {
    const Status status = parse_python_environment(wrong).status();
    EXPECT_EQ(status.code(), Code::invalid_argument) << wrong;
    EXPECT_LT(status.message().size(), 300U);
  }
}

TEST(PythonEnvironment, IsInItsOwnersHomeUnlessItSaysWhere) {
  EXPECT_EQ(folder_of({.name = "llm"}, "/home/ann"), "/home/ann/.hai/envs/llm");
  EXPECT_EQ(folder_of({.folder = "/srv/llm"}, "/home/ann"), "/srv/llm");
}

}  // namespace
}  // namespace hai
