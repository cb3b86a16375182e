#pragma once
// A small table that people write: CSV (RFC 4180) whose first line names the columns. Blank lines
// and lines that begin with # are passed over. Each mistake is told as `SOURCE:LINE: what`.

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai {

struct CsvTableColumns {
  std::vector<std::string> required;
  std::vector<std::string> optional = {};  // fields are "" if the file has no such column
};

struct CsvRow {
  int line = 0;                     // 1-based, of the file
  std::vector<std::string> fields;  // required, then optional; blanks around them cut off
};

struct CsvTable {
  std::vector<CsvRow> rows;
  std::vector<bool> has;  // whether the file has the column, in the order of a row's fields
};

// `invalid_argument` for a header without a required column or with one that is not known, for a
// line with another number of fields than the header, and for an open quotation mark.
Result<CsvTable> parse_csv_table(std::string_view text, const std::string& source,
                                 const CsvTableColumns& columns);

}  // namespace hai
