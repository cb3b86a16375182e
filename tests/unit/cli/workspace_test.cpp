#include "cli/workspace.h"
#include "cli/workspace_room.h"

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

constexpr int64_t kGiB = int64_t{1} << 30;

TEST(WorkspaceRoom, ReadsWhatRsyncHasCounted) {
  const std::optional<CopySize> size = parse_rsync_stats(
      "\nNumber of files: 3 (reg: 2, dir: 1)\nTotal file size: 107374182402 bytes\n"
      "Total transferred file size: 2 bytes\nLiteral data: 0 bytes\n");
  ASSERT_TRUE(size);
  EXPECT_EQ(size->all, 107'374'182'402);
  EXPECT_EQ(size->to_copy, 2);
  EXPECT_FALSE(parse_rsync_stats(""));
  EXPECT_FALSE(parse_rsync_stats("Total file size: many bytes\n"));
}

TEST(WorkspaceRoom, ReadsWhatIsFree) {
  EXPECT_EQ(parse_free_bytes("9000000 6187343 4096\n"), int64_t{6'187'343} * 4096);
  EXPECT_EQ(parse_free_bytes("9 0 4096\r\n"), 0);
  for (const char* text : {"", "4096", "a b c", "1 1 0", "0 0 4096", "1 -1 4096", "1 1 1 1",
                           "1 9223372036854775807 4096"})
    EXPECT_FALSE(parse_free_bytes(text)) << text;
}

TEST(WorkspaceRoom, MoreThanAnybodyMeansOrThanThereIsRoomForIsOneError) {
  EXPECT_TRUE(check_workspace_size("/home/ann/llm", 50 * kGiB).is_ok());
  EXPECT_EQ(check_workspace_size("/home/ann/llm", 100 * kGiB).message(),
            "/home/ann/llm has 100.0 GiB to copy, at most 50.0 GiB are without --force: list data "
            "and checkpoints in .haiignore, and keep them on the cluster's storage");
  EXPECT_TRUE(check_free_space("/data/ann", kGiB, kGiB).is_ok());
  EXPECT_EQ(check_free_space("/data/ann", 2 * kGiB, kGiB).message(),
            "2.0 GiB to copy, but /data/ann has 1.0 GiB free: nothing was copied; --force begins "
            "all the same");
}

}  // namespace
}  // namespace hai::cli
