#include "sim/trace/csv_reader.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

namespace hai {

struct CsvReader::File {
  gzFile handle = nullptr;  // reads plain files as they are
  ~File() {
    if (handle != nullptr) gzclose_r(handle);
  }
};

CsvReader::CsvReader(std::string path, CsvColumns columns)
    : path_(std::move(path)), columns_(std::move(columns)), file_(std::make_unique<File>()) {}

CsvReader::~CsvReader() = default;

Result<std::unique_ptr<CsvReader>> CsvReader::open(const std::string& path, CsvColumns columns) {
  std::unique_ptr<CsvReader> reader(new CsvReader(path, std::move(columns)));
  RETURN_IF_ERROR(reader->start());
  RETURN_IF_ERROR(reader->match_header());
  return reader;
}

Result<std::vector<std::string>> read_csv_header(const std::string& path) {
  auto reader = CsvReader::open(path, {});
  // Its columns are not known yet, so that "unknown column" is no news here.
  if (reader.is_ok()) return reader.value()->header();
  return reader.status();
}

Status CsvReader::start() {
  errno = 0;
  file_->handle = gzopen(path_.c_str(), "rb");
  if (file_->handle == nullptr)
    return invalid_argument("{}: can't be opened: {}", path_,
                            errno != 0 ? std::strerror(errno) : "out of memory");
  gzbuffer(file_->handle, 1 << 17);
  if (!read_line()) return status_.is_ok() ? error("the file is empty") : status_;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text_.starts_with(kByteOrderMark)) text_.erase(0, kByteOrderMark.size());
  if (!split_line()) return status_;
  header_ = fields_;
  return ok();
}

Status CsvReader::match_header() {
  for (size_t i = 0; i < header_.size(); ++i) {
    if (std::count(header_.begin(), header_.end(), header_[i]) > 1)
      return error(fmt::format("column '{}' is there twice", header_[i]));
  }
  std::vector<std::string> all = columns_.required;
  all.insert(all.end(), columns_.optional.begin(), columns_.optional.end());
  if (all.empty()) return ok();
  for (const std::string& name : header_) {
    if (std::ranges::find(all, name) == all.end()) {
      return error(fmt::format("unknown column '{}', known are: {}", name.substr(0, 64),
                               fmt::join(all, ", ")));
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    auto found = std::ranges::find(header_, all[i]);
    if (found == header_.end() && i < columns_.required.size())
      return error(fmt::format("column '{}' is missing", all[i]));
    place_.push_back(found == header_.end() ? -1 : static_cast<int>(found - header_.begin()));
  }
  return ok();
}

bool CsvReader::has_column(const std::string& name) const {
  return std::ranges::find(header_, name) != header_.end();
}

bool CsvReader::next() {
  while (status_.is_ok() && read_line()) {
    if (text_.empty()) continue;
    if (!split_line()) return false;
    if (fields_.size() == header_.size()) return true;
    status_ = error(fmt::format("{} fields, the header has {}", fields_.size(), header_.size()));
  }
  return false;
}

bool CsvReader::read_line() {
  text_.clear();
  char buffer[8192];
  while (gzgets(file_->handle, buffer, sizeof buffer) != nullptr) {
    text_ += buffer;
    bool is_whole = !text_.empty() && text_.back() == '\n';
    if (text_.size() > kLineMax) {
      ++line_;
      status_ = error(fmt::format("the line is longer than {} bytes", kLineMax));
      return false;
    }
    if (!is_whole) continue;
    text_.pop_back();
    break;
  }
  int code = Z_OK;
  const char* why = gzerror(file_->handle, &code);
  if (code != Z_OK && code != Z_STREAM_END) {
    ++line_;
    status_ = error(code == Z_BUF_ERROR ? std::string("the file is cut short")
                                        : fmt::format("can't be read: {}", why));
    return false;
  }
  if (text_.empty() && gzeof(file_->handle) != 0) return false;
  ++line_;
  if (!text_.empty() && text_.back() == '\r') text_.pop_back();
  return true;
}

// Fields may stand in double quotes, with "" for one of them; not over several lines.
bool CsvReader::split_line() {
  fields_.clear();
  std::string field;
  bool quoted = false;
  for (size_t i = 0; i < text_.size(); ++i) {
    char c = text_[i];
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text_.size() && text_[i + 1] == '"') {
        field += '"', ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"' && field.empty()) {
      quoted = true;
    } else if (c == ',') {
      fields_.push_back(std::move(field));
      field.clear();
    } else {
      field += c;
    }
  }
  if (quoted) {
    status_ = error("a quote is not closed");
    return false;
  }
  fields_.push_back(std::move(field));
  return true;
}

std::string_view CsvReader::field(size_t column) const {
  int place = place_.at(column);
  return place < 0 ? std::string_view() : std::string_view(fields_[place]);
}

Result<double> CsvReader::number(size_t column, double low, double high) const {
  const std::string& name = column < columns_.required.size()
                                ? columns_.required[column]
                                : columns_.optional[column - columns_.required.size()];
  std::string_view text = field(column);
  double value = 0;
  auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !std::isfinite(value))
    return error(fmt::format("{}: must be a number, is '{}'", name, text.substr(0, 64)));
  if (value < low || value > high)
    return error(fmt::format("{}: must be {}..{}, is {}", name, low, high, value));
  return value;
}

Status CsvReader::error(const std::string& what) const {
  return invalid_argument("{}:{}: {}", path_, line_, what);
}

}  // namespace hai
