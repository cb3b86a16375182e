#include "agent/image/image_pull.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "agent/image/image_store.h"

namespace hai {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// With a skopeo that knows no image.
class ImagePullTest : public testing::Test {
 protected:
  ImagePullTest() : path_(testing::TempDir() + "hai-pull-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(path_ + "/bin");
    std::ofstream(path_ + "/bin/skopeo") << "#!/bin/sh\necho manifest unknown >&2\nexit 1\n";
    ::chmod((path_ + "/bin/skopeo").c_str(), 0755);
    settings_.store = path_ + "/images";
    settings_.environment = {{"PATH", path_ + "/bin:/usr/bin:/bin"}};
  }
  ~ImagePullTest() override { std::filesystem::remove_all(path_); }

  // What is said of getting this one. Where it would wait it throws, so that no test hangs.
  std::vector<std::string> said_of(const std::string& image) {
    std::vector<std::string> said;
    get_image(image, settings_, {}, [&](const std::string& line) {
      said.push_back(line);
      if (line.starts_with("waits for image")) throw std::runtime_error(line);
    });
    return said;
  }
  // While another image is being got.
  void while_getting(const std::string& image, const std::function<void()>& what) {
    int times = 0;
    const ImageFile got = get_image(image, settings_, {}, [&](const std::string& line) {
      if (line.starts_with("gets image") && times++ == 0) what();
    });
    EXPECT_EQ(times, 1);
    EXPECT_THAT(got.error, HasSubstr("manifest unknown"));
  }
  void store(const std::string& id, const std::string& name, int64_t bytes) {
    const ImageStore store = ImageStore::open(settings_.store).value();
    std::filesystem::create_directory(store.begin(id + "-copy").value() + "/rootfs");
    ASSERT_TRUE(store.keep(id + "-copy", {id, name, "sha256:" + id, bytes, {}}, {}).is_ok());
  }

  const std::string path_;
  const std::string digits_ = std::string(64, 'a');
  const std::string pin_ = "@sha256:" + digits_;
  ImageSettings settings_;
};

TEST_F(ImagePullTest, ARegistryHoldsUpNobodyWhoNamesAnother) {
  while_getting("docker://10.255.255.1/x" + pin_, [this] {
    EXPECT_THAT(said_of("docker://registry.example/x" + pin_),
                ElementsAre(StartsWith("gets image docker://registry.example/x")));
    EXPECT_THAT(said_of("docker://10.255.255.1/y" + pin_),
                ElementsAre(StartsWith("gets image docker://10.255.255.1/y")));
  });
}

TEST_F(ImagePullTest, OneAtATimeGetsItFromTheSamePlace) {
  while_getting("docker://registry.example/x:1" + pin_, [this] {
    EXPECT_THROW(said_of("docker://registry.example/x:2" + pin_), std::runtime_error);
  });
}

TEST_F(ImagePullTest, NothingIsLeftOfWhatFailed) {
  said_of("docker://registry.example/x" + pin_);
  for (const auto& entry : std::filesystem::directory_iterator(settings_.store))
    EXPECT_EQ(entry.path().extension(), ".lock") << entry.path();
}

// The line stands in the log of whoever came last.
TEST_F(ImagePullTest, NamesNoImagesOfOthersThatItRemoves) {
  store(digits_, "docker://registry.example/x", 10);
  store("1000-bb", "oci:/home/bob/secret-project:v2", 3 << 20);
  store("1000-cc", "oci:/home/bob/secret-project:v3", 5 << 20);
  settings_.bytes_max = 8 << 20;
  EXPECT_THAT(said_of("docker://registry.example/x" + pin_), IsEmpty());
  settings_.bytes_max = 0;
  EXPECT_THAT(said_of("docker://registry.example/x" + pin_),
              ElementsAre("removed 2 unused images (8Mi) to make room"));
}

}  // namespace
}  // namespace hai
