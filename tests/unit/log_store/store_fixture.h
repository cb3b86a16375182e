#pragma once
// A log store in a folder of its own.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "common/log_store/layout.h"
#include "common/log_store/log_store.h"
#include "common/log_store/reader.h"
#include "common/log_store/writer.h"

namespace hai {

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    std::string path = testing::TempDir() + "/hai-store-XXXXXX";
    folder_ = ::mkdtemp(path.data());
    root_ = folder_ + "/store";
    std::filesystem::create_directory(root_);
    std::filesystem::permissions(root_, std::filesystem::perms::owner_all);
  }
  ~StoreTest() override { std::filesystem::remove_all(folder_); }

  LogStore store() { return LogStore::open_as_server(root_, "fire").value(); }
  std::string path_of(const RankKey& key) const {
    return root_ + "/" + thousand_folder(key.job) + "/" + job_folder(key.job) + "/" +
           rank_folder(key);
  }
  StoredLogWriter writer(const RankKey& key, const std::string& user = "ann") {
    return StoredLogWriter::resume(store(), key, {.user = user, .node = "n1"}).value();
  }
  Result<StoredLogPart> read(const RankKey& key, int64_t offset, int64_t max_bytes = 1 << 20) {
    return reader_.read(store(),
                        {.key = key, .user = "ann", .offset = offset, .max_bytes = max_bytes});
  }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  std::string folder_;
  std::string root_;
  StoredLogReader reader_;
  const RankKey key_{.job = JobId{17'042}, .attempt = 2, .rank = 0};
};

}  // namespace hai
