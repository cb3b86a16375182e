#include "cli/text_width.h"

#include <algorithm>
#include <cstdint>

namespace hai::cli {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

// Unicode's East Asian Width W and F, and pictures, in the blocks that names are written in.
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
                           {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
                           {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE4F},
                           {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                           {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
// Marks on the letter before, joiners, direction marks, variation selectors.
constexpr Range kNone[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F},
                           {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E},
                           {0x2060, 0x2064}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
                           {0xFEFF, 0xFEFF}};

template <size_t kCount>
bool is_in(const Range (&ranges)[kCount], uint32_t point) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](Range range) { return range.first <= point && point <= range.last; });
}

size_t length_by_lead(unsigned char lead) {
  if (lead >= 0xF0 && lead < 0xF8) return 4;
  if (lead >= 0xE0) return lead < 0xF0 ? 3 : 1;
  return lead >= 0xC0 ? 2 : 1;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string_view take_letter(std::string_view& text) {
  size_t length = length_by_lead(static_cast<unsigned char>(text.front()));
  const bool is_whole =
      text.size() >= length &&
      std::all_of(text.begin() + 1, text.begin() + static_cast<ptrdiff_t>(length), is_continuation);
  if (!is_whole) length = 1;
  const std::string_view letter = text.substr(0, length);
  text.remove_prefix(length);
  return letter;
}

size_t letter_width(std::string_view letter) {
  if (letter.size() < 2) return 1;
  uint32_t point = static_cast<unsigned char>(letter.front()) & (0x7Fu >> letter.size());
  for (const char c : letter.substr(1)) point = point << 6 | (static_cast<unsigned char>(c) & 0x3F);
  if (is_in(kNone, point)) return 0;
  return is_in(kWide, point) ? 2 : 1;
}

size_t display_width(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) columns += letter_width(take_letter(text));
  return columns;
}

std::string cut(std::string_view text, size_t width) {
  if (text.size() <= width || display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  const char* const begin = text.data();
  std::string_view rest = text;
  size_t columns = 0;
  while (!rest.empty()) {
    std::string_view next = rest;
    const size_t letter = letter_width(take_letter(next));
    if (columns + letter > width - 1) break;
    columns += letter;
    rest = next;
  }
  return std::string(begin, rest.data()) + "…";
}

std::string fit(std::string_view text, size_t width, bool right) {
  const std::string shown = cut(text, width);
  const std::string blanks(width - std::min(width, display_width(shown)), ' ');
  return right ? blanks + shown : shown + blanks;
}

std::vector<std::string> wrapped_lines(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  width = std::max<size_t>(width, 2);
  while (display_width(text) > width) {
    std::string_view rest = text;
    size_t columns = 0;
    size_t end = 0;    // of what fits
    size_t blank = 0;  // the last one in it
    while (!rest.empty()) {
      const std::string_view letter = take_letter(rest);
      columns += letter_width(letter);
      if (columns > width) break;
      if (letter == " ") blank = end;
      end += letter.size();
    }
    if (blank > 0) end = blank;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace hai::cli
