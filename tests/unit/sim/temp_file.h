#pragma once
// A file with a given text, gone at the end of the test.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace hai::test {

class TempFile {
 public:
  explicit TempFile(const std::string& text, const std::string& suffix = ".csv") {
    static int count = 0;
    path_ = ::testing::TempDir() + "hai-" + std::to_string(getpid()) + "-" +
            std::to_string(++count) + suffix;
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TempFile() { std::remove(path_.c_str()); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  const std::string& path() const { return path_; }

  // A reader's error without the folder: "FILE:3: what".
  std::string shown(const std::string& message) const {
    return message.starts_with(path_) ? "FILE" + message.substr(path_.size()) : message;
  }

 private:
  std::string path_;
};

}  // namespace hai::test
