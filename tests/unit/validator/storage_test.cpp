#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "validator/storage_file.h"
#include "validator/test.h"

namespace hai::validator {
namespace {

namespace fs = std::filesystem;

std::string new_directory() {
  std::string path = fs::temp_directory_path() / "hai-validator-test-XXXXXX";
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
  return path;
}

// The file has no name: it is found among our own descriptors.
std::string path_of_open_file(const std::string& directory) {
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = fs::read_symlink(entry.path(), error).string();
    if (target.starts_with(directory + "/.hai-validator-")) return entry.path();
  }
  return {};
}

TEST(ValidatorStorage, ReadsBackWhatItWrote) {
  const std::string directory = new_directory();
  const std::vector<Measurement> results =
      test_storage({.seconds = 10s, .storage_bytes = 8 << 20, .directory = directory});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].metric, "write_bandwidth");
  EXPECT_EQ(results[1].metric, "read_bandwidth");
  for (const Measurement& result : results) {
    EXPECT_EQ(result.verdict, Verdict::ok) << result.detail;
    EXPECT_GT(result.value.value_or(0), 0);
    EXPECT_TRUE(result.detail.starts_with("8 MiB in ")) << result.detail;
  }
  EXPECT_TRUE(fs::is_empty(directory)) << "nothing stays behind";
  fs::remove_all(directory);
}

TEST(ValidatorStorage, FindsTheByteThatIsWrong) {
  const std::string directory = new_directory();
  Result<StorageFile> file = StorageFile::create(directory);
  ASSERT_TRUE(file.is_ok()) << file.status().message();
  for (int64_t block = 0; block < 2; ++block) ASSERT_TRUE(file.value().write_block(block).is_ok());
  ASSERT_TRUE(file.value().sync().is_ok());
  const std::string path = path_of_open_file(directory);
  ASSERT_NE(path, "");
  constexpr off_t kPlace = kStorageBlockBytes + 4096;
  const int fd = ::open(path.c_str(), O_RDWR);
  uint64_t word = 0;
  ASSERT_EQ(::pread(fd, &word, 8, kPlace), 8);
  word ^= uint64_t{1} << 33;
  ASSERT_EQ(::pwrite(fd, &word, 8, kPlace), 8);
  ::fsync(fd);
  EXPECT_TRUE(file.value().check_block(0).is_ok());
  const Status status = file.value().check_block(1);
  EXPECT_EQ(status.code(), Code::data_loss);
  EXPECT_TRUE(status.message().starts_with("byte 4198400 read back as ")) << status.message();
  ASSERT_EQ(::ftruncate(fd, kPlace), 0);
  EXPECT_EQ(file.value().check_block(1).message(), "the file ends at 4198400");
  ::close(fd);
  fs::remove_all(directory);
}

TEST(ValidatorStorage, SaysWhyItCannotWrite) {
  const std::vector<Measurement> results =
      test_storage({.seconds = 1s, .storage_bytes = 8 << 20, .directory = "/nowhere/at/all"});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].verdict, Verdict::fail);
  EXPECT_EQ(results[0].detail, "/nowhere/at/all: No such file or directory");
}

TEST(ValidatorStorage, LeavesAFullDiskAlone) {
  const std::vector<Measurement> results =
      test_storage({.seconds = 1s, .storage_bytes = 1 << 20, .directory = "/tmp"});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].verdict, Verdict::skipped);
}

}  // namespace
}  // namespace hai::validator
