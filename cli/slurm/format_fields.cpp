#include "cli/slurm/format_fields.h"

#include <algorithm>

#include "cli/table.h"

namespace hai::cli::slurm {
namespace {

constexpr int kWidthMax = 1'000;

const KnownLetter* find_letter(const std::vector<KnownLetter>& known, char letter) {
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const KnownLetter& k) { return k.letter == letter; });
  return found == known.end() ? nullptr : &*found;
}

std::string first_columns(std::string_view text, int width) {
  std::string out;
  int columns = 0;
  for (const char c : text) {
    // A continued UTF-8 sequence belongs to the character before.
    const bool continues = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (!continues && ++columns > width) break;
    out += c;
  }
  return out;
}

std::string padded(std::string_view text, const FormatField& field) {
  std::string out = printable(text);
  if (field.width == 0) return out;
  out = first_columns(out, field.width);
  const size_t missing = static_cast<size_t>(field.width) - display_width(out);
  return field.right ? std::string(missing, ' ') + out : out + std::string(missing, ' ');
}

}  // namespace

Result<std::vector<FormatField>> parse_format(std::string_view text,
                                              const std::vector<KnownLetter>& known) {
  std::vector<FormatField> fields(1);
  for (size_t i = 0; i < text.size(); ++i) {
    FormatField& field = fields.back();
    if (text[i] != '%') {
      field.before += text[i];
      continue;
    }
    if (++i < text.size() && text[i] == '#') {
      field.fits_widest = true;
      ++i;
    }
    if (i < text.size() && text[i] == '.') {
      field.right = true;
      ++i;
    }
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      field.width = std::min(field.width * 10 + (text[i] - '0'), kWidthMax);
    }
    if (i == text.size()) return invalid_argument("the format ends with an open %");
    if (find_letter(known, text[i]) == nullptr) {
      std::string letters;
      for (const KnownLetter& k : known) letters += k.letter;
      return invalid_argument("%{} in the format is not known, only these letters are: {}",
                              printable(text.substr(i, 1)), letters);
    }
    field.letter = text[i];
    fields.emplace_back();
  }
  return fields;
}

std::string format_lines(std::vector<FormatField> fields, const std::vector<KnownLetter>& known,
                         const std::vector<std::function<std::string(char)>>& rows, bool header) {
  for (FormatField& field : fields) {
    if (!field.fits_widest) continue;
    size_t width = find_letter(known, field.letter)->title.size();
    if (field.letter == 'N') ++width;  // as wide as Slurm's
    for (const auto& row : rows)
      width = std::max(width, display_width(printable(row(field.letter))));
    field.width = static_cast<int>(width);
  }
  std::string text;
  const auto add_line = [&](const auto& value_of) {
    for (const FormatField& field : fields) {
      text += field.before;
      if (field.letter != 0) text += padded(value_of(field.letter), field);
    }
    text += '\n';
  };
  if (header) {
    add_line([&](char letter) { return std::string(find_letter(known, letter)->title); });
  }
  for (const auto& row : rows) add_line(row);
  return text;
}

}  // namespace hai::cli::slurm
