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
    const std::string copy = id + "-copy";
    const UniqueFd lock = std::move(store_->lock(copy, nullptr)).value();
    std::filesystem::create_directory(store_->begin(copy).value() + "/rootfs");
    ASSERT_TRUE(keep(copy, id, bytes).is_ok());
    const timespec times[2] = {{used_at, 0}, {used_at, 0}};
    ::utimensat(AT_FDCWD, (path_ + "/" + id + "/image.json").c_str(), times, 0);
  }
  Status keep(const std::string& copy, const std::string& id, int64_t bytes) {
    return store_->keep(copy, {id, "name-" + id, "sha256:" + id, bytes, {}}, {{"A", "b"}});
  }
  static std::vector<std::string> names_of(const std::vector<StoredImage>& images) {
    std::vector<std::string> names;
    for (const StoredImage& image : images) names.push_back(image.name);
    return names;
  }
  std::vector<std::string> names() const { return names_of(store_->list()); }
  std::vector<std::string> pruned(int64_t bytes_max) { return names_of(store_->prune(bytes_max)); }

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
  EXPECT_THAT(pruned(30), IsEmpty());
  EXPECT_THAT(pruned(15), ElementsAre("name-bb", "name-cc"));
  EXPECT_THAT(names(), ElementsAre("name-aa"));
}

TEST_F(ImageStoreTest, DropsNothingThatARankUses) {
  make("aa", 10, 1);
  make("bb", 10, 2);
  const UniqueFd used(::open(store_->lock_path("aa").c_str(), O_RDONLY));
  ASSERT_EQ(::flock(used.get(), LOCK_SH), 0);
  EXPECT_THAT(pruned(0), ElementsAre("name-bb"));
  EXPECT_THAT(names(), ElementsAre("name-aa"));
}

TEST_F(ImageStoreTest, UseMakesItTheLastToGo) {
  make("aa", 10, 1);
  make("bb", 10, 2);
  ASSERT_TRUE(store_->find("aa").has_value());
  EXPECT_THAT(pruned(10), ElementsAre("name-bb"));
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

// The same image from two registries: nobody waits for the other, nor for ranks that run in it.
TEST_F(ImageStoreTest, KeepsTheCopyThatIsWholeFirst) {
  const UniqueFd one = std::move(store_->lock("aa-1", nullptr)).value();
  const UniqueFd two = std::move(store_->lock("aa-2", nullptr)).value();
  std::filesystem::create_directories(store_->begin("aa-1").value() + "/rootfs/late");
  std::filesystem::create_directories(store_->begin("aa-2").value() + "/rootfs/quick");
  ASSERT_TRUE(keep("aa-2", "aa", 10).is_ok());
  const UniqueFd of_rank = std::move(store_->share("aa", nullptr)).value();
  EXPECT_TRUE(keep("aa-1", "aa", 10).is_ok());
  EXPECT_TRUE(std::filesystem::exists(path_ + "/aa/rootfs/quick"));
  EXPECT_FALSE(std::filesystem::exists(path_ + "/aa/rootfs/late"));
  EXPECT_FALSE(std::filesystem::exists(path_ + "/aa-1.partial"));
  EXPECT_THAT(names(), ElementsAre("name-aa"));
}

TEST_F(ImageStoreTest, WhatHasNoRecordThatCanBeReadIsReplaced) {
  std::filesystem::create_directories(path_ + "/aa/rootfs");
  std::ofstream(path_ + "/aa/image.json") << "half";
  EXPECT_FALSE(store_->find("aa").has_value());
  make("aa", 10, 1);
  EXPECT_TRUE(store_->find("aa").has_value());
}

}  // namespace
}  // namespace hai
