#include "agent/os/trash.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/asio_loop.h"

namespace hai {
namespace {

class TrashTest : public testing::Test {
 protected:
  TrashTest() {
    std::string path = testing::TempDir() + "/hai-trash-XXXXXX";
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    root_ = path;
  }
  ~TrashTest() override { std::filesystem::remove_all(root_); }

  std::filesystem::path fill(const std::string& name) const {
    const std::filesystem::path folder = root_ / name;
    std::filesystem::create_directories(folder / "deep");
    for (int i = 0; i < 500; ++i) std::ofstream(folder / "deep" / std::to_string(i)) << "x";
    return folder;
  }
  void wait_until_gone(const std::filesystem::path& folder) const {
    const MonoTime end = loop_.now() + 30s;
    while (std::filesystem::exists(folder) && loop_.now() < end) continue;
    EXPECT_FALSE(std::filesystem::exists(folder));
  }
  void wait_until_empty() const {
    const MonoTime end = loop_.now() + 30s;
    while (!std::filesystem::is_empty(root_ / "trash") && loop_.now() < end) continue;
    EXPECT_TRUE(std::filesystem::is_empty(root_ / "trash"));
  }

  std::filesystem::path root_;
  AsioLoop loop_;
};

TEST_F(TrashTest, WhatIsTakenIsGoneAtOnceAndDeletedSoon) {
  Trash trash(loop_, root_ / "trash");
  for (const std::string name : {"a", "b"}) {
    const std::filesystem::path folder = fill(name);
    trash.take(folder);
    EXPECT_FALSE(std::filesystem::exists(folder));
  }
  trash.take(root_ / "never");
  fill("a");  // the same name again
  trash.take(root_ / "a");
  wait_until_empty();
}

TEST_F(TrashTest, WithoutItsFolderItDeletesAllTheSame) {
  std::ofstream(root_ / "trash") << "in the way";
  const std::filesystem::path folder = fill("a");
  Trash trash(loop_, root_ / "trash");
  trash.take(folder);
  wait_until_gone(folder);
}

TEST_F(TrashTest, WhatAnAgentBeforeHasLeftIsDeleted) {
  fill("trash/left");
  const Trash trash(loop_, root_ / "trash");
  wait_until_empty();
}

TEST_F(TrashTest, ElsewhereIsDeletedSoon) {
  const std::filesystem::path folder = fill("socket");
  Trash trash(loop_, root_ / "trash");
  trash.take_elsewhere(folder);
  wait_until_gone(folder);
}

}  // namespace
}  // namespace hai
