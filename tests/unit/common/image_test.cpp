#include "common/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai {
namespace {

using testing::HasSubstr;
using ImageKind = ImageName::Kind;

const std::string kDigest = "sha256:" + std::string(64, 'a');

TEST(Image, NamesAreThoseOfSkopeoAndBareOnesOfARegistry) {
  const struct {
    std::string text;
    ImageName image;
    std::string shown;
  } kCases[] = {
      {"ubuntu", {ImageKind::registry, "ubuntu", ""}, "docker://ubuntu"},
      {"docker://h:5/a/b:1", {ImageKind::registry, "h:5/a/b:1", ""}, "docker://h:5/a/b:1"},
      {"a/b:1@" + kDigest, {ImageKind::registry, "a/b:1", kDigest}, "docker://a/b:1@" + kDigest},
      {"oci:/x/y:z", {ImageKind::layout, "/x/y:z", ""}, "oci:/x/y:z"},
      {"oci-archive:/x.tar", {ImageKind::oci_archive, "/x.tar", ""}, "oci-archive:/x.tar"},
      {"docker-archive:/x.tar:a:b",
       {ImageKind::docker_archive, "/x.tar:a:b", ""},
       "docker-archive:/x.tar:a:b"},
      {"rootfs:/x", {ImageKind::root_folder, "/x", ""}, "rootfs:/x"},
  };
  for (const auto& each : kCases) {
    const Result<ImageName> image = parse_image(each.text);
    ASSERT_TRUE(image.is_ok()) << each.text << ": " << image.status().message();
    EXPECT_EQ(image.value(), each.image) << each.text;
    EXPECT_EQ(to_string(image.value()), each.shown);
    EXPECT_EQ(parse_image(each.shown).value(), each.image);
  }
}

TEST(Image, NamesThatAreNoneAreRefused) {
  for (const std::string text : {"",
                                 "-x",
                                 "/abs",
                                 ":5",
                                 "a b",
                                 "a$b",
                                 "a@sha256:12",
                                 "a@md5:1",
                                 "oci:rel",
                                 "rootfs:",
                                 "docker://",
                                 "docker-daemon:x",
                                 "containers-storage:x",
                                 "dir:/x",
                                 "oci:/a,b",
                                 "oci:/a b",
                                 "--help",
                                 "docker://--x",
                                 "a\nb",
                                 "a/",
                                 "a:"}) {
    EXPECT_FALSE(parse_image(text).is_ok()) << text;
  }
}

// skopeo takes no tag beside a digest.
TEST(Image, IsAskedForByItsDigestAlone) {
  const auto asked = [](const std::string& text) { return skopeo_name(parse_image(text).value()); };
  EXPECT_EQ(asked("h:5/a:1@" + kDigest), "docker://h:5/a@" + kDigest);
  EXPECT_EQ(asked("h:5/a@" + kDigest), "docker://h:5/a@" + kDigest);
  EXPECT_EQ(asked("h:5/a:1"), "docker://h:5/a:1");
  EXPECT_EQ(asked("oci:/x:1"), "oci:/x:1");
}

TEST(Image, IsOfTheRegistryThatItsNameSays) {
  const auto registry = [](const std::string& text) {
    return registry_of(parse_image(text).value());
  };
  EXPECT_EQ(registry("ubuntu:22.04"), "docker.io");
  EXPECT_EQ(registry("team/box"), "docker.io");
  EXPECT_EQ(registry("nvcr.io/x/y"), "nvcr.io");
  EXPECT_EQ(registry("localhost/y"), "localhost");
  EXPECT_EQ(registry("h:5/y:1"), "h:5");
}

TEST(Mount, IsFromToAndHow) {
  EXPECT_EQ(parse_mount("/a").value(), (ImageMount{"/a", "/a", false}));
  EXPECT_EQ(parse_mount("/a:ro").value(), (ImageMount{"/a", "/a", true}));
  EXPECT_EQ(parse_mount("/a:/b").value(), (ImageMount{"/a", "/b", false}));
  EXPECT_EQ(parse_mount("/a:/b:ro").value(), (ImageMount{"/a", "/b", true}));
  EXPECT_EQ(parse_mount("/a:/b:rw").value(), (ImageMount{"/a", "/b", false}));
}

TEST(Mount, OfWhatRanksHaveOfTheirOwnIsRefused) {
  for (const std::string text :
       {"",        "a",           "/",          "/a:/",    "/proc",     "/proc/1:/x", "/sys:/x",
        "/a:/dev", "/dev/shm:/x", "/tmp/x",     "/a:/tmp", "/run/x:/x", "/a/../b",    "/a:/b/..",
        "/a//b",   "/a/./b",      "/a:/b:ro:x", "/a:b",    "/a b",      "/a,b",       "/a:/b:/c"}) {
    EXPECT_FALSE(parse_mount(text).is_ok()) << text;
  }
  EXPECT_TRUE(parse_mount("/process:/system").is_ok());
}

}  // namespace
}  // namespace hai
