#include "cli/workspace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace hai::cli {
namespace {

class WorkspaceTest : public ::testing::Test {
 protected:
  WorkspaceTest() {
    std::string folder = ::testing::TempDir() + "hai-workspace-XXXXXX";
    here_ = ::mkdtemp(folder.data());
    std::filesystem::create_directories(here_ + "/src/deep");
  }
  ~WorkspaceTest() override { std::filesystem::remove_all(here_); }

  std::string here_;
};

TEST_F(WorkspaceTest, IsAsHereUntilItWasPushed) {
  EXPECT_FALSE(find_workspace(here_));
  EXPECT_EQ(on_nodes(here_ + "/src"), here_ + "/src");
}

TEST_F(WorkspaceTest, AndWhatLiesInItAreWhereTheyWerePushed) {
  ASSERT_TRUE(remember_workspace({.here = here_, .there = "/data/ann/llm"}).is_ok());
  EXPECT_EQ(on_nodes(here_), "/data/ann/llm");
  EXPECT_EQ(on_nodes(here_ + "/"), "/data/ann/llm");
  EXPECT_EQ(on_nodes(here_ + "/src/deep"), "/data/ann/llm/src/deep");
  EXPECT_EQ(on_nodes(here_ + "-other"), here_ + "-other");
}

TEST_F(WorkspaceTest, IsNowhereButAtAnAbsolutePath) {
  for (const char* wrong : {"", "llm", "/", "//", "/..", "/data/", "/a\nb"})
    EXPECT_FALSE(check_place(wrong).is_ok()) << wrong;
  EXPECT_TRUE(check_place("/data").is_ok());
  ASSERT_TRUE(remember_workspace({.here = here_, .there = "somewhere"}).is_ok());
  EXPECT_EQ(on_nodes(here_), here_) << "what the file says is no place";
}

}  // namespace
}  // namespace hai::cli
