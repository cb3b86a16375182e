#include "cli/table.h"

#include <algorithm>

#include "common/check.h"

namespace hai::cli {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kNarrowest = 8;  // a column shrinks no further

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string_view escape_of(Colour colour) {
  switch (colour) {
    case Colour::none:
      return "";
    case Colour::green:
      return "\033[32m";
    case Colour::yellow:
      return "\033[33m";
    case Colour::red:
      return "\033[31m";
    case Colour::blue:
      return "\033[34m";
    case Colour::grey:
      return "\033[90m";
    case Colour::bold:
      return "\033[1m";
  }
  return "";
}

}  // namespace

size_t display_width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string cut(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  size_t columns = 0;
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!is_continuation(text[end]) && ++columns == width) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string printable(std::string_view text) {
  std::string clean(text);
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = c == '\n' || c == '\t' ? ' ' : '?';
  }
  return clean;
}

std::string paint(std::string_view text, Colour colour, const Terminal& terminal) {
  if (!terminal.colour || colour == Colour::none) return std::string(text);
  return std::string(escape_of(colour)) + std::string(text) + "\033[0m";
}

Colour colour_of(std::string_view word) {
  if (word == "running" || word == "up" || word == "ok" || word == "succeeded") {
    return Colour::green;
  }
  if (word == "failed" || word == "down" || word == "fail" || word == "lost") return Colour::red;
  if (word == "queued") return Colour::blue;
  if (word == "stopped" || word == "unknown") return Colour::grey;
  if (word == "open" || word.empty()) return Colour::none;
  return Colour::yellow;  // on its way: suspended, suspect, draining, starting, warn, …
}

void Table::add_row(std::vector<Cell> cells) {
  CHECK(cells.size() == columns_.size());
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back(std::move(cells));
}

std::vector<size_t> Table::widths(const Terminal& terminal) const {
  std::vector<size_t> widths;
  size_t total = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i].text));
    widths.push_back(width);
    total += width + (i == 0 ? 0 : kGap);
  }
  if (terminal.width <= 0) return widths;
  while (total > static_cast<size_t>(terminal.width)) {
    size_t widest = columns_.size();
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].may_shrink || widths[i] <= kNarrowest) continue;
      if (widest == columns_.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == columns_.size()) break;
    --widths[widest];
    --total;
  }
  return widths;
}

std::string Table::render(const Terminal& terminal) const {
  const std::vector<size_t> widths = this->widths(terminal);
  std::string out;
  const auto put = [&](size_t column, std::string_view text, Colour colour) {
    if (column > 0) out.append(kGap, ' ');
    const std::string shown = cut(text, widths[column]);
    const size_t padding = widths[column] - display_width(shown);
    if (columns_[column].right) out.append(padding, ' ');
    out += paint(shown, colour, terminal);
    // No blanks at the end of lines.
    if (!columns_[column].right && column + 1 < columns_.size()) out.append(padding, ' ');
  };
  for (size_t i = 0; i < columns_.size(); ++i) put(i, columns_[i].title, Colour::bold);
  out += '\n';
  for (const auto& row : rows_) {
    for (size_t i = 0; i < columns_.size(); ++i) put(i, row[i].text, row[i].colour);
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out += '\n';
  }
  return out;
}

}  // namespace hai::cli
