// Enters images in a mount namespace of a child: needs root.

#include "agent/shim/image_root.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/machine/bounded_child.h"

namespace hai {
namespace {

constexpr int64_t kMemory = 32 << 20;
constexpr uid_t kRankUser = 23'456;
constexpr const char* kRankUserLine = "ann:x:23456:23456::/home/ann:/bin/sh\n";

bool may_have_mounts() {
  return run_for_text([] { return ::unshare(CLONE_NEWNS) == 0 ? "yes" : "no"; }, {}).text == "yes";
}

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

int64_t bytes_in_memory(const struct statvfs& info) {
  return static_cast<int64_t>((info.f_blocks - info.f_bfree) * info.f_frsize);
}

class ImageRootTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0 || !may_have_mounts()) GTEST_SKIP() << "needs root";
    path_ = testing::TempDir() + "hai-image-root-" + std::to_string(::getpid());
    for (const char* folder : {"/image/etc", "/place", "/temp"})
      std::filesystem::create_directories(path_ + folder);
    for (const char* folder : {"", "/image", "/image/etc"}) ::chmod((path_ + folder).c_str(), 0755);
  }
  void TearDown() override {
    if (!path_.empty()) std::filesystem::remove_all(path_);
  }

  std::string passwd() const { return path_ + "/image/etc/passwd"; }
  void write_passwd(const std::string& text) { std::ofstream(passwd()) << text; }

  // What `ask` says where / is the image; why it is not, if so.
  std::string in_image(const std::function<std::string()>& ask) {
    const auto enter = [&]() -> Status {
      if (::unshare(CLONE_NEWNS) != 0 ||
          ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return mounts_failed("the test's namespace");
      const UserIdentity ann{.switch_user = true,
                             .uid = kRankUser,
                             .gid = kRankUser,
                             .groups = {kRankUser},
                             .home = "/home/ann",
                             .shell = "/bin/sh"};
      ImageRootPlan plan;
      plan.folder = path_ + "/image";
      plan.place = path_ + "/place";
      plan.user = "ann";
      plan.memory_bytes = kMemory;
      const Result<ImageRoot> root = ImageRoot::prepare(plan, path_ + "/temp", ann);
      RETURN_IF_ERROR(root.status());
      return root.value().enter();
    };
    return run_for_text(
               [&] {
                 const Status entered = enter();
                 return entered.is_ok() ? ask() : std::string(entered.message());
               },
               {})
        .text;
  }

  std::string path_;
};

TEST_F(ImageRootTest, AddsTheAccountAndLeavesTheImageAsItIs) {
  const std::string before = "root:x:0:0:root:/root:/bin/sh";
  write_passwd(before);
  ASSERT_EQ(::chmod(passwd().c_str(), 0640), 0);
  ASSERT_EQ(::chown(passwd().c_str(), 5, 6), 0);
  const std::string seen = in_image([] {
    struct stat info {};
    ::stat("/etc/passwd", &info);
    return fmt::format("{:o} {} {}\n{}{}", info.st_mode & 07777, info.st_uid, info.st_gid,
                       content("/etc/passwd"), content("/etc/group"));
  });
  EXPECT_EQ(seen, "640 5 6\n" + before + "\n" + kRankUserLine + "ann:x:23456:\n");
  EXPECT_EQ(content(passwd()), before);
}

TEST_F(ImageRootTest, LeavesAccountsThatAreThere) {
  const std::string before = "other:x:23456:1::/:/bin/false\n";
  write_passwd(before);
  EXPECT_EQ(in_image([] { return content("/etc/passwd"); }), before);
}

// What is copied into the upper layer before the rank's programs run is not in the rank's limits.
TEST_F(ImageRootTest, CopiesNoLargeFileOfTheImageIntoMemory) {
  constexpr size_t kLarge = 8 << 20;
  write_passwd(std::string(kLarge, 'x'));
  std::filesystem::copy_file(passwd(), path_ + "/image/etc/group");
  const std::string seen = in_image([] {
    struct statvfs info {};
    ::statvfs("/", &info);
    return fmt::format("{} {} {}", bytes_in_memory(info) < (1 << 20),
                       std::filesystem::file_size("/etc/passwd"),
                       std::filesystem::file_size("/etc/group"));
  });
  EXPECT_EQ(seen, fmt::format("true {0} {0}", kLarge));
}

TEST_F(ImageRootTest, HoldsNoMoreThanTheRanksMemory) {
  const std::string seen = in_image([] {
    struct statvfs info {};
    ::statvfs("/", &info);
    return std::to_string(info.f_blocks * info.f_frsize);
  });
  EXPECT_EQ(seen, std::to_string(kMemory));
}

}  // namespace
}  // namespace hai
