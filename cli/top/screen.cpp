#include "cli/top/screen.h"

#include <fmt/format.h>

#include "cli/table.h"

namespace hai::cli::top {
namespace {

std::string_view escape_of(Style style, bool colour) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::bold:
      return "\033[1m";
    case Style::reverse:
      return "\033[7m";
    case Style::dim:
      return colour ? "\033[90m" : "";
    case Style::green:
      return colour ? "\033[32m" : "";
    case Style::yellow:
      return colour ? "\033[33m" : "";
    case Style::red:
      return colour ? "\033[31m" : "";
    case Style::blue:
      return colour ? "\033[34m" : "";
  }
  return "";
}

}  // namespace

std::string plain_text(const Line& line) {
  std::string text;
  for (const Span& span : line.spans) text += span.text;
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string terminal_text(const Line& line, int width, bool colour) {
  std::string out;
  size_t left = width > 0 ? static_cast<size_t>(width) : 0;
  for (const Span& span : line.spans) {
    const std::string shown = cut(span.text, left);
    left -= display_width(shown);
    const std::string_view escape = escape_of(span.style, colour);
    out += escape.empty() ? shown : fmt::format("{}{}\033[0m", escape, shown);
    if (left == 0) break;
  }
  return out;
}

std::string redraw(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  std::string out;
  for (size_t row = 0; row < after.size(); ++row) {
    if (row < before.size() && before[row] == after[row]) continue;
    // The line is cleared first: a letter in its last column must not be wiped afterwards.
    out += fmt::format("\033[{};1H\033[2K{}", row + 1, after[row]);
  }
  if (before.size() > after.size()) out += fmt::format("\033[{};1H\033[J", after.size() + 1);
  return out;
}

Style style_of(std::string_view word) {
  switch (colour_of(word)) {
    case Colour::none:
      return Style::plain;
    case Colour::green:
      return Style::green;
    case Colour::yellow:
      return Style::yellow;
    case Colour::red:
      return Style::red;
    case Colour::blue:
      return Style::blue;
    case Colour::grey:
      return Style::dim;
    case Colour::bold:
      return Style::bold;
  }
  return Style::plain;
}

}  // namespace hai::cli::top
