#include "common/json/json_text.h"

#include <charconv>
#include <cstring>

namespace hai {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Length of the valid UTF-8 sequence at the start of `text`, 0 if there is none.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogates
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;  // above U+10FFFF
    return 4;
  }
  return 0;
}

void append_utf8(std::string& out, uint32_t point) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | point >> 6);
    tail(0);
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0 | point >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | point >> 18);
    tail(12), tail(6), tail(0);
  }
}

void append_escaped(std::string& out, unsigned char byte) {
  switch (byte) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
  }
}

// The four hex digits of \uXXXX at `at`; the syntax is already checked.
uint32_t hex4(std::string_view raw, size_t at) {
  uint32_t value = 0;
  std::from_chars(raw.data() + at, raw.data() + at + 4, value, 16);
  return value;
}

// Appends the character of the \u escape at `at` and returns how many bytes it took.
size_t append_unicode_escape(std::string& out, std::string_view raw, size_t at) {
  const uint32_t high = hex4(raw, at + 2);
  if (high >= 0xD800 && high < 0xDC00 && at + 12 <= raw.size() && raw[at + 6] == '\\' &&
      raw[at + 7] == 'u') {
    const uint32_t low = hex4(raw, at + 8);
    if (low >= 0xDC00 && low < 0xE000) {
      append_utf8(out, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
      return 12;
    }
  }
  const bool lone = high >= 0xD800 && high < 0xE000;
  append_utf8(out, lone ? 0xFFFD : high);
  return 6;
}

}  // namespace

bool is_clean_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = sequence_length(text.substr(i));
    if (length == 0 || text[i] == '\0') return false;
    i += length;
  }
  return true;
}

std::string clean_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t length = text[i] == '\0' ? 0 : sequence_length(text.substr(i));
    if (length == 0) {
      out += kReplacement;
      ++i;
    } else {
      out.append(text, i, length);
      i += length;
    }
  }
  return out;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte < 0x80) {
      if (byte == '"' || byte == '\\') out += '\\';
      out += static_cast<char>(byte);
      ++i;
    } else if (byte != 0 && byte < 0x20) {
      append_escaped(out, byte);
      ++i;
    } else if (size_t length = byte == 0 ? 0 : sequence_length(text.substr(i)); length > 0) {
      out.append(text, i, length);
      i += length;
    } else {
      out += kReplacement;
      ++i;
    }
  }
  out += '"';
}

std::string unescape_json(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size();) {
    if (raw[i] != '\\') {
      const size_t next = std::min(raw.find('\\', i), raw.size());
      out.append(raw, i, next - i);
      i = next;
      continue;
    }
    switch (raw[i + 1]) {
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'u':
        i += append_unicode_escape(out, raw, i) - 2;
        break;
      default:
        out += raw[i + 1];  // quote, backslash, slash
    }
    i += 2;
  }
  return out;
}

}  // namespace hai
