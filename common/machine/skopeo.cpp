#include "common/machine/skopeo.h"

namespace hai {

namespace {

constexpr size_t kComplaintBytesMax = 400;

// Of `time="…" level=fatal msg="what \"it\" says"`.
std::string message_of(std::string_view line) {
  constexpr std::string_view kKey = "msg=\"";
  const size_t at = line.find(kKey);
  if (at == std::string_view::npos) return std::string(line);
  std::string text;
  for (size_t i = at + kKey.size(); i < line.size() && line[i] != '"'; ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) ++i;
    text += line[i];
  }
  return text;
}

}  // namespace

std::string complaint_of(std::string_view output) {
  std::string last;
  while (!output.empty()) {
    const size_t end = output.find('\n');
    const std::string_view line = output.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) last = message_of(line);
    if (end == std::string_view::npos) break;
    output.remove_prefix(end + 1);
  }
  if (last.size() > kComplaintBytesMax) last = last.substr(0, kComplaintBytesMax) + "...";
  return last.empty() ? "it said nothing" : last;
}

}  // namespace hai
