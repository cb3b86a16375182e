#include "common/config/yaml_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace hai {
namespace {

bool begins_section(std::string_view line, std::string_view key) {
  return line.starts_with(key) && line.substr(key.size()).starts_with(':');
}

bool is_within_section(std::string_view line) {
  return line.starts_with(' ') || line.starts_with('\t') || line.starts_with('-') ||
         line.starts_with('}') || line.starts_with(']');
}

// May stand between two lines of a section, or behind it.
bool is_neutral(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos || line.starts_with('#');
}

}  // namespace

std::string quoted_yaml(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // Line ends within the marks would be folded, other control characters refused.
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string with_section(std::string_view yaml, std::string_view key, std::string_view section) {
  std::string out;
  std::string held;  // of the section if more of it follows
  bool is_skipping = false;
  bool is_done = false;
  while (!yaml.empty()) {
    const size_t length = std::min(yaml.find('\n'), yaml.size() - 1) + 1;
    const std::string_view line = yaml.substr(0, length);
    yaml.remove_prefix(length);
    if (is_skipping && is_neutral(line)) {
      held += line;
    } else if (is_skipping && is_within_section(line)) {
      held.clear();
    } else {
      out += held;
      held.clear();
      is_skipping = begins_section(line, key);
      if (!is_skipping) out += line;
      if (is_skipping && !is_done) out += section;
      is_done |= is_skipping;
    }
  }
  out += held;
  if (is_done || section.empty()) return out;
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  return out.append(section);
}

}  // namespace hai
