#include "common/log_store/log_store.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "tests/unit/log_store/store_fixture.h"

namespace hai {
namespace {

TEST_F(StoreTest, AServerBeginsAnEmptyFolderAndAgentsUseItThen) {
  const Status before = LogStore::open(root_).status();
  EXPECT_EQ(before.code(), Code::failed_precondition);
  EXPECT_NE(before.message().find("not mounted"), std::string::npos) << before.message();
  EXPECT_TRUE(LogStore::open_as_server(root_, "fire").is_ok());
  EXPECT_TRUE(LogStore::open_as_server(root_, "fire").is_ok());
  EXPECT_TRUE(LogStore::open(root_).is_ok());
  EXPECT_EQ(content(root_ + "/.hai-log-store"), "fire\n");
}

TEST_F(StoreTest, AMissingFolderIsNotMade) {
  for (const Status& status : {LogStore::open(root_ + "/absent").status(),
                               LogStore::open_as_server(root_ + "/absent", "fire").status()}) {
    EXPECT_EQ(status.code(), Code::failed_precondition);
    EXPECT_NE(status.message().find("mount the file system"), std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(root_ + "/absent"));
}

TEST_F(StoreTest, ItIsOneClustersAlone) {
  store();
  const Status other = LogStore::open_as_server(root_, "water").status();
  EXPECT_EQ(other.code(), Code::failed_precondition);
  EXPECT_NE(other.message().find("that of cluster fire, not of water"), std::string::npos);
}

TEST_F(StoreTest, AFolderWithOtherThingsInItIsLeftAlone) {
  put(root_ + "/thesis.tex", "");
  EXPECT_EQ(LogStore::open_as_server(root_, "fire").status().code(), Code::failed_precondition);
  EXPECT_FALSE(std::filesystem::exists(root_ + "/.hai-log-store"));
}

TEST_F(StoreTest, AFolderThatOthersMayWriteIsRefused) {
  store();
  ::chmod(root_.c_str(), 0770);
  const Status status = LogStore::open(root_).status();
  EXPECT_EQ(status.code(), Code::failed_precondition);
  EXPECT_NE(status.message().find("chmod 0700"), std::string::npos);
}

TEST_F(StoreTest, LinksAreNotFollowed) {
  const std::string outside = folder_ + "/outside";
  std::filesystem::create_directory(outside);
  put(outside + "/0000000000000000.gz", "precious");
  put(outside + "/rank.json", "precious");
  store();
  std::filesystem::create_directories(path_of(key_));
  std::filesystem::remove(path_of(key_));
  std::filesystem::create_symlink(outside, path_of(key_));
  EXPECT_EQ(store().open_rank(key_).status().code(), Code::unavailable);
  EXPECT_FALSE(store().remove_rank(key_).is_ok());
  EXPECT_FALSE(StoredLogWriter::resume(store(), key_, {.user = "ann", .node = "n1"}).is_ok());
  EXPECT_FALSE(read(key_, 0).is_ok());
  EXPECT_EQ(content(outside + "/0000000000000000.gz"), "precious");

  std::filesystem::remove(path_of(key_));
  std::filesystem::create_directory(path_of(key_));
  put(path_of(key_) + "/rank.json", R"({"user":"ann","node":"n1"})");
  std::filesystem::create_symlink(outside + "/rank.json", path_of(key_) + "/0000000000000000.gz");
  EXPECT_FALSE(read(key_, 0).is_ok());
  EXPECT_FALSE(StoredLogWriter::resume(store(), key_, {.user = "ann", .node = "n1"}).is_ok());
  EXPECT_TRUE(store().remove_rank(key_).is_ok());
  EXPECT_EQ(content(outside + "/rank.json"), "precious");
}

TEST_F(StoreTest, OnlyItsOwnerReadsWhatIsInIt) {
  ASSERT_TRUE(writer(key_).append(store(), 0, "secret\n").is_ok());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
    struct stat info {};
    ASSERT_EQ(::lstat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 077, 0u) << entry.path();
  }
}

// Root writes as the owner of the store, as a file server with root_squash wants it.
TEST_F(StoreTest, RootWritesAsTheOwnerOfTheStore) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  constexpr uid_t kOwner = 4711;
  ASSERT_EQ(::chmod(folder_.c_str(), 0711), 0);
  ASSERT_EQ(::chown(root_.c_str(), kOwner, kOwner), 0);
  ASSERT_TRUE(writer(key_).append(store(), 0, "line\n").is_ok());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
    struct stat info {};
    ASSERT_EQ(::lstat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, kOwner) << entry.path();
  }
  EXPECT_EQ(read(key_, 0).value().part.bytes, "line\n");
  put(folder_ + "/afterwards", "");  // And it is root again.
  struct stat info {};
  ASSERT_EQ(::lstat((folder_ + "/afterwards").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 0u);
}

// Fills a file system of its own with lines; 0 = what is said and left behind is right.
int fill(const std::string& root, const RankKey& key) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, "") != 0 ||
      ::mount("none", root.c_str(), "tmpfs", 0, "size=256k,mode=0700") != 0) {
    return 77;
  }
  const LogStore store = LogStore::open_as_server(root, "fire").value();
  const RankRecord record{.user = "ann", .node = "n1"};
  StoredLogWriter log = StoredLogWriter::resume(store, key, record).value();
  std::string written;
  for (uint32_t x = 1;;) {
    std::string random;
    for (int i = 0; i < 20'000; ++i) random += static_cast<char>((x = x * 69069 + 1) >> 24);
    const Status status = log.append(store, 0, random);
    if (status.code() == Code::resource_exhausted) break;
    if (!status.is_ok() || written.size() > 1 << 20) return 1;
    written += random;
  }
  // Nothing is left of what had no room, and the same writer goes on when there is some.
  StoredLogReader reader;
  const StoredLogRequest all{.key = key, .user = "ann", .max_bytes = 1 << 20};
  if (reader.read(store, all).value().part.bytes != written) return 2;
  if (::mount("none", root.c_str(), "tmpfs", MS_REMOUNT, "size=1m,mode=0700") != 0) return 77;
  if (!log.append(store, 0, "room again").is_ok()) return 3;
  return reader.read(store, all).value().part.bytes == written + "room again" ? 0 : 4;
}

TEST_F(StoreTest, AFullStoreSaysSoAndKeepsWhatItHas) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(fill(root_, key_));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "cannot mount here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(StoreTest, RemovingTheLastRankRemovesTheFoldersAboveIt) {
  const RankKey other{.job = key_.job, .attempt = 2, .rank = 1};
  writer(key_);
  writer(other);
  ASSERT_TRUE(store().remove_rank(key_).is_ok());
  EXPECT_TRUE(std::filesystem::exists(path_of(other)));
  ASSERT_TRUE(store().remove_rank(other).is_ok());
  EXPECT_FALSE(std::filesystem::exists(root_ + "/17"));
  EXPECT_EQ(store().remove_rank(other).code(), Code::not_found);
}

}  // namespace
}  // namespace hai
