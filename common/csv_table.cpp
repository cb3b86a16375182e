#include "common/csv_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "common/nearest.h"
#include "common/text_check.h"

namespace hai {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // Spreadsheets write it first.

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// None if a quotation mark stays open or text follows a closed one. "" within quotes is one mark.
std::optional<std::vector<std::string>> split_line(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    std::string field;
    if (line.starts_with('"')) {
      size_t at = 1;
      for (; at < line.size(); ++at) {
        if (line[at] == '"' && (at + 1 == line.size() || line[at + 1] != '"')) break;
        if (line[at] == '"') ++at;
        field += line[at];
      }
      if (at >= line.size()) return std::nullopt;
      line.remove_prefix(at + 1);
      if (!trimmed(line.substr(0, line.find(','))).empty()) return std::nullopt;
    } else {
      field = trimmed(line.substr(0, line.find(',')));
    }
    fields.push_back(std::move(field));
    const size_t comma = line.find(',');
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

// Of each of our columns its place in the file; -1 = not there.
Result<std::vector<int>> match_header(const std::vector<std::string>& header,
                                      const CsvTableColumns& columns, const std::string& where) {
  std::vector<std::string> known = columns.required;
  known.insert(known.end(), columns.optional.begin(), columns.optional.end());
  for (const std::string& name : header) {
    if (std::ranges::find(known, name) == known.end()) {
      return invalid_argument(
          "{}: no column '{}' is known{}; the first line names the columns, of {}", where,
          printable(name), nearest(name, known).empty() ? "" : ", meant is " + nearest(name, known),
          fmt::join(known, ","));
    }
    if (std::ranges::count(header, name) > 1) {
      return invalid_argument("{}: the column {} is there twice", where, name);
    }
  }
  std::vector<int> places;
  for (size_t i = 0; i < known.size(); ++i) {
    const auto found = std::ranges::find(header, known[i]);
    if (found == header.end() && i < columns.required.size()) {
      return invalid_argument("{}: the column {} is missing; the first line names the columns",
                              where, known[i]);
    }
    places.push_back(found == header.end() ? -1 : static_cast<int>(found - header.begin()));
  }
  return places;
}

}  // namespace

Result<CsvTable> parse_csv_table(std::string_view text, const std::string& source,
                                 const CsvTableColumns& columns) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const auto bad = find_bad_text(text)) {
    return invalid_argument("{}:{}: has {}", source, bad->line, bad->what);
  }
  CsvTable table;
  std::vector<int> places;
  size_t width = 0;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (line.empty() || line.starts_with('#')) continue;
    const std::string where = fmt::format("{}:{}", source, number);
    const auto fields = split_line(line);
    if (!fields) return invalid_argument("{}: a quotation mark is not closed", where);
    if (width == 0) {
      Result<std::vector<int>> matched = match_header(*fields, columns, where);
      RETURN_IF_ERROR(matched.status());
      places = std::move(matched).value();
      width = fields->size();
      for (const int place : places) table.has.push_back(place >= 0);
      continue;
    }
    if (fields->size() != width) {
      return invalid_argument(
          "{}: has {} fields, the first line {}; a field with a comma in it is "
          "written in quotation marks",
          where, fields->size(), width);
    }
    CsvRow row{.line = number, .fields = {}};
    for (const int place : places) {
      row.fields.push_back(place < 0 ? "" : (*fields)[static_cast<size_t>(place)]);
    }
    table.rows.push_back(std::move(row));
  }
  if (width == 0) return invalid_argument("{}: is empty", source);
  return table;
}

}  // namespace hai
