#include "server/api/log_scan.h"

#include <algorithm>
#include <cstring>

#include "common/ascii.h"
#include "common/json/json_text.h"

namespace hai {

namespace {

constexpr size_t kStampBytesMax = 40;
constexpr size_t kShownBytesMax = 1'000;  // of a line
constexpr size_t kShownBefore = 200;      // the match

bool is_inside_character(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

// What is shown_part of a line: all of it, or what is around the match.
std::string shown_part(std::string_view text, size_t match) {
  if (text.size() <= kShownBytesMax) return clean_utf8(text);
  size_t begin = match > kShownBefore ? match - kShownBefore : 0;
  size_t end = std::min(text.size(), begin + kShownBytesMax);
  while (begin < end && is_inside_character(text, begin)) ++begin;
  while (end > begin && is_inside_character(text, end)) --end;
  std::string out = begin > 0 ? "…" : "";
  out += clean_utf8(text.substr(begin, end - begin));
  if (end < text.size()) out += "…";
  return out;
}

// Where the whole lines of the request end.
size_t end_of_lines(const LogScanRequest& request) {
  const size_t newline = request.data.rfind('\n');
  if (request.is_end || newline == std::string_view::npos) return request.data.size();
  return newline + 1;
}

size_t end_of_line(std::string_view data, size_t at) {
  return std::min(data.find('\n', at), data.size());
}

bool is_after(const LogLineView& line, std::optional<UnixTime> until) {
  return until && line.at && *line.at > *until;
}

}  // namespace

LogLineView split_log_line(std::string_view line) {
  const size_t space = line.substr(0, kStampBytesMax).find(' ');
  if (space == std::string_view::npos) return {.at = {}, .text = line};
  const Result<UnixTime> at = parse_rfc3339(line.substr(0, space));
  if (!at.is_ok()) return {.at = {}, .text = line};
  return {.at = at.value(), .text = line.substr(space + 1)};
}

LogMatcher::LogMatcher(std::string text, bool match_case)
    : text_(std::move(text)), match_case_(match_case) {
  if (!match_case_) std::ranges::transform(text_, text_.begin(), to_lower);
}

std::string_view LogMatcher::prepare(std::string_view text, std::string& room) const {
  if (match_case_) return text;
  room.resize(text.size());
  std::ranges::transform(text, room.begin(), to_lower);
  return room;
}

size_t LogMatcher::find(std::string_view ready, size_t from) const {
  if (from >= ready.size()) return std::string_view::npos;
  const void* found =
      ::memmem(ready.data() + from, ready.size() - from, text_.data(), text_.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char*>(found) - ready.data());
}

LogScan scan_log(const LogMatcher& matcher, const LogScanRequest& request) {
  const std::string_view data = request.data.substr(0, end_of_lines(request));
  LogScan scan{.hits = {}, .next_offset = request.offset + static_cast<int64_t>(data.size())};
  std::string room;
  const std::string_view ready = matcher.prepare(data, room);
  size_t at = 0;
  for (;;) {
    const size_t match = matcher.find(ready, at);
    if (match == std::string_view::npos) break;
    const size_t newline = match == 0 ? std::string_view::npos : data.rfind('\n', match - 1);
    const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    const size_t end = end_of_line(data, match);
    const std::string_view whole = data.substr(begin, end - begin);
    const LogLineView line = split_log_line(whole);
    if (is_after(line, request.until)) {
      scan.is_past_until = true;
      return scan;
    }
    const size_t text_begin = end - line.text.size();
    if (match < text_begin) {  // in the time, which the rank did not write
      at = text_begin;
      continue;
    }
    at = end + 1;
    if (request.since && line.at && *line.at < *request.since) continue;
    if (scan.hits.size() == request.hits_max) {
      scan.next_offset = request.offset + static_cast<int64_t>(begin);
      return scan;
    }
    scan.hits.push_back({.offset = request.offset + static_cast<int64_t>(begin),
                         .at = line.at,
                         .text = shown_part(line.text, match - text_begin)});
  }
  if (request.until && !data.empty()) {
    // The last line tells whether anything that follows can count.
    const size_t last =
        data.size() < 2 ? std::string_view::npos : data.rfind('\n', data.size() - 2);
    const size_t begin = last == std::string_view::npos ? 0 : last + 1;
    const std::string_view whole = data.substr(begin, end_of_line(data, begin) - begin);
    scan.is_past_until = is_after(split_log_line(whole), request.until);
  }
  return scan;
}

}  // namespace hai
