#pragma once
// Reads a CSV file, gzipped or not, line by line. Columns are found by the header's names; what is
// wrong is told as `FILE:LINE: what`. Every line has as many fields as the header.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai {

struct CsvColumns {
  std::vector<std::string> required;
  std::vector<std::string> optional;  // empty fields if the file has no such column
};

class CsvReader {
 public:
  // Reads the header, too.
  static Result<std::unique_ptr<CsvReader>> open(const std::string& path, CsvColumns columns);
  ~CsvReader();
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  // The next line that is not blank; false at the end of the file or at an error.
  bool next();
  // What is wrong with the file so far.
  const Status& status() const { return status_; }
  // A field of this line, by the column's place in required, then optional.
  std::string_view field(size_t column) const;
  // A number field; `low` and `high` are allowed.
  Result<double> number(size_t column, double low, double high) const;
  bool has_column(const std::string& name) const;
  // Names of the file's columns, in its order.
  const std::vector<std::string>& header() const { return header_; }
  Status error(const std::string& what) const;

  static constexpr size_t kLineMax = 65'536;

 private:
  struct File;
  CsvReader(std::string path, CsvColumns columns);
  Status start();
  Status match_header();
  bool read_line();
  bool split_line();

  std::string path_;
  CsvColumns columns_;
  std::unique_ptr<File> file_;
  int64_t line_ = 0;
  std::string text_;
  std::vector<std::string> header_;
  std::vector<std::string> fields_;
  std::vector<int> place_;  // of our columns in the file's; -1 = not there
  Status status_;
};

// The names in the header line of a file, to tell kinds of files apart.
Result<std::vector<std::string>> read_csv_header(const std::string& path);

}  // namespace hai
