#include "agent/image/image_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "common/unique_fd.h"

namespace hai {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ImageStoreTest : public testing::Test {
 protected:
  ImageStoreTest() : path_(testing::TempDir() + "hai-images-" + std::to_string(::getpid())) {
    store_ = ImageStore::open(path_).value();
  }
  ~ImageStoreTest() override { std::filesystem::remove_all(path_); }

  void make(const std::string& id, int64_t bytes, time_t used_at) {
    const UniqueFd lock = std::move(store_->lock(id, nullptr)).value();
    const std::string folder = store_->begin(id).value();
    std::filesystem::create_directory(folder + "/rootfs");
    ASSERT_TRUE(store_->keep({id, "name-" + id, "sha256:" + id, bytes, {}}, {{"A", "b"}}).is_ok());
    const timespec times[2] = {{used_at, 0}, {used_at, 0}};
    ::utimensat(AT_FDCWD, (path_ + "/" + id + "/image.json").c_str(), times, 0);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const StoredImage& image : store_->list()) names.push_back(image.name);
    return names;
  }

  const std::string path_;
  std::optional<ImageStore> store_;
};

TEST_F(ImageStoreTest, KeepsWhatIsWholeForRootAlone) {
  EXPECT_FALSE(store_->find("aa").has_value());
  make("aa", 10, 1);
  const std::optional<ImageFile> found = store_->find("aa");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->folder, path_ + "/aa/rootfs");
  EXPECT_EQ(found->lock, path_ + "/aa.lock");
  EXPECT_EQ(found->environment, (Environment{{"A", "b"}}));
  struct stat info {};
  ASSERT_EQ(::stat((path_ + "/aa").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(ImageStoreTest, DropsWhatWasUsedLongestAgo) {
  make("aa", 10, 3);
  make("bb", 10, 1);
  make("cc", 10, 2);
  EXPECT_THAT(names(), ElementsAre("name-bb", "name-cc", "name-aa"));
  EXPECT_THAT(store_->prune(30), IsEmpty());
  EXPECT_THAT(store_->prune(15), ElementsAre("name-bb", "name-cc"));
  EXPECT_THAT(names(), ElementsAre("name-aa"));
}

TEST_F(ImageStoreTest, DropsNothingThatARankUses) {
  make("aa", 10, 1);
  make("bb", 10, 2);
  const UniqueFd used(::open(store_->lock_path("aa").c_str(), O_RDONLY));
  ASSERT_EQ(::flock(used.get(), LOCK_SH), 0);
  EXPECT_THAT(store_->prune(0), ElementsAre("name-bb"));
  EXPECT_THAT(names(), ElementsAre("name-aa"));
}

TEST_F(ImageStoreTest, UseMakesItTheLastToGo) {
  make("aa", 10, 1);
  make("bb", 10, 2);
  ASSERT_TRUE(store_->find("aa").has_value());
  EXPECT_THAT(store_->prune(10), ElementsAre("name-bb"));
}

TEST_F(ImageStoreTest, WhatWasNotFinishedIsNotThereAndGoes) {
  std::optional<UniqueFd> lock(std::move(store_->lock("aa", nullptr)).value());
  const std::string folder = store_->begin("aa").value();
  std::ofstream(folder + "/half") << "x";
  EXPECT_FALSE(store_->find("aa").has_value());
  store_->prune(1'000);
  EXPECT_TRUE(std::filesystem::exists(folder)) << "somebody is at it";
  lock.reset();
  store_->prune(1'000);
  EXPECT_FALSE(std::filesystem::exists(folder));
  lock.emplace(std::move(store_->lock("aa", nullptr)).value());
  EXPECT_TRUE(store_->begin("aa").is_ok());
}

}  // namespace
}  // namespace hai
