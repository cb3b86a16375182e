#include "cli/table.h"

#include <algorithm>

#include "common/check.h"

namespace hai::cli {
namespace {

constexpr size_t kGap = 2;

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

// With the gaps between the columns that are shown.
size_t total_of(const std::vector<size_t>& widths) {
  size_t total = 0;
  for (const size_t width : widths) total += width == 0 ? 0 : width + (total == 0 ? 0 : kGap);
  return total;
}

size_t narrowest_total(const std::vector<Column>& columns, std::vector<size_t> widths) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].may_shrink) widths[i] = std::min(widths[i], columns[i].narrowest);
  }
  return total_of(widths);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::string_view letter = take_letter(text);
    const auto first = static_cast<unsigned char>(letter.front());
    const bool is_control =
        first < 0x20 || first == 0x7F ||
        (letter.size() == 2 && first == 0xC2 && static_cast<unsigned char>(letter[1]) < 0xA0);
    if (!is_control) {
      clean += letter;
    } else {
      clean += letter == "\n" || letter == "\t" ? ' ' : '?';
    }
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
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i].text));
    widths.push_back(width);
  }
  if (terminal.width <= 0) return widths;
  const auto room = static_cast<size_t>(terminal.width);
  while (narrowest_total(columns_, widths) > room) {
    size_t spare = columns_.size();
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (widths[i] == 0 || columns_[i].spare == 0) continue;
      if (spare == columns_.size() || columns_[i].spare > columns_[spare].spare) spare = i;
    }
    if (spare == columns_.size()) break;
    widths[spare] = 0;
  }
  while (total_of(widths) > room) {
    size_t widest = columns_.size();
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].may_shrink || widths[i] <= columns_[i].narrowest) continue;
      if (widest == columns_.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == columns_.size()) break;
    --widths[widest];
  }
  return widths;
}

std::string Table::render(const Terminal& terminal) const {
  const std::vector<size_t> widths = this->widths(terminal);
  std::string out;
  const auto put = [&](size_t column, std::string_view text, Colour colour) {
    if (widths[column] == 0) return;
    if (!out.empty() && out.back() != '\n') out.append(kGap, ' ');
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
