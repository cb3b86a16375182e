#pragma once
// Files of lines, compressed if their name ends in .gz. Each is used by one thread.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

// Of a file whose writer may have died; it has the name that it gets without it.
inline constexpr std::string_view kPartialSuffix = ".partial";
// An attempt of 10,000 ranks takes less than 1 MB.
inline constexpr size_t kLineBytesMax = 64 << 20;

class LineWriter {
 public:
  // The file must not exist, or is replaced if `replace`.
  static Result<std::unique_ptr<LineWriter>> create(const std::string& path, bool replace = false);
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  Status write(std::string_view line);
  // All is on disk when it returns ok. Nothing may be written after it.
  Status finish();
  int64_t lines() const { return lines_; }

 private:
  struct File;
  LineWriter(std::string path, std::unique_ptr<File> file);
  Status error(const char* what) const;

  const std::string path_;
  std::unique_ptr<File> file_;
  int64_t lines_ = 0;
};

class LineReader {
 public:
  static Result<std::unique_ptr<LineReader>> open(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // True with the next line, which lives until the next call; false at the end. A file that was cut
  // off is `data_loss`.
  Result<bool> next(std::string_view& line);
  int64_t line_number() const { return line_number_; }  // of the last line, from 1
  const std::string& path() const { return path_; }

 private:
  struct File;
  LineReader(std::string path, std::unique_ptr<File> file);
  Status fill();

  const std::string path_;
  std::unique_ptr<File> file_;
  std::string buffer_;
  size_t begin_ = 0;  // of what has not been returned
  bool is_over_ = false;
  int64_t line_number_ = 0;
};

}  // namespace hai
