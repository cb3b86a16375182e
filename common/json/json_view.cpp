// Reading: one pass checks the syntax, later passes only skip over values known to be right.

#include <charconv>

#include "common/json/json_text.h"

namespace hai {
namespace {

constexpr int kDepthMax = 64;

struct Scanner {
  const char* at;
  const char* end;

  bool more() const { return at < end; }
  void space() {
    while (more() && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  }
  bool take(char wanted) {
    if (!more() || *at != wanted) return false;
    ++at;
    return true;
  }
  bool word(std::string_view text) {
    if (static_cast<size_t>(end - at) < text.size()) return false;
    if (std::string_view(at, text.size()) != text) return false;
    at += text.size();
    return true;
  }
  bool digits() {
    const char* start = at;
    while (more() && *at >= '0' && *at <= '9') ++at;
    return at > start;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (more() && (*at == 'e' || *at == 'E')) {
      ++at;
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }
  bool escape() {
    if (!more()) return false;
    const char kind = *at++;
    if (kind != 'u') return std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos;
    for (int i = 0; i < 4; ++i, ++at) {
      if (!more()) return false;
      const bool hex = (*at >= '0' && *at <= '9') || ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'f');
      if (!hex) return false;
    }
    return true;
  }
  bool string() {
    if (!take('"')) return false;
    while (more()) {
      const auto byte = static_cast<unsigned char>(*at++);
      if (byte == '"') return true;
      if (byte < 0x20) return false;
      if (byte == '\\' && !escape()) return false;
    }
    return false;
  }
  bool object(int depth) {
    space();
    if (take('}')) return true;
    do {
      space();
      if (!string()) return false;
      space();
      if (!take(':') || !value(depth)) return false;
      space();
    } while (take(','));
    return take('}');
  }
  bool array(int depth) {
    space();
    if (take(']')) return true;
    do {
      if (!value(depth)) return false;
      space();
    } while (take(','));
    return take(']');
  }
  bool value(int depth) {
    space();
    if (!more() || depth > kDepthMax) return false;
    switch (*at) {
      case '{':
        ++at;
        return object(depth + 1);
      case '[':
        ++at;
        return array(depth + 1);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }
  // Of a value known to be right: its text.
  std::string_view skip() {
    space();
    const char* start = at;
    value(0);
    return {start, static_cast<size_t>(at - start)};
  }
};

Scanner scan(std::string_view text) { return {text.data(), text.data() + text.size()}; }

}  // namespace

Result<JsonView> JsonView::parse(std::string_view text) {
  Scanner scanner = scan(text);
  scanner.space();
  const char* start = scanner.at;
  const bool good = scanner.value(0);
  const std::string_view value(start, static_cast<size_t>(scanner.at - start));
  scanner.space();
  if (!good || scanner.more()) {
    return invalid_argument("bad JSON at byte {} of {}", scanner.at - text.data(), text.size());
  }
  return JsonView(value);
}

std::optional<bool> JsonView::as_bool() const {
  if (text_ == "true") return true;
  if (text_ == "false") return false;
  return std::nullopt;
}

std::optional<int64_t> JsonView::as_int() const {
  int64_t value = 0;
  const char* end = text_.data() + text_.size();
  auto [at, error] = std::from_chars(text_.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

std::optional<double> JsonView::as_double() const {
  double value = 0;
  const char* end = text_.data() + text_.size();
  auto [at, error] = std::from_chars(text_.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

std::optional<std::string> JsonView::as_string() const {
  if (text_.empty() || text_.front() != '"') return std::nullopt;
  return unescape_json(text_.substr(1, text_.size() - 2));
}

bool JsonView::members(Members& out) const {
  out.clear();
  if (text_.empty() || text_.front() != '{') return false;
  Scanner scanner = scan(text_.substr(1));
  scanner.space();
  if (scanner.take('}')) return true;
  do {
    const std::string_view key = scanner.skip();
    scanner.space();
    scanner.take(':');
    out.emplace_back(key.substr(1, key.size() - 2), JsonView(scanner.skip()));
    scanner.space();
  } while (scanner.take(','));
  return true;
}

bool JsonView::elements(std::vector<JsonView>& out) const {
  out.clear();
  if (text_.empty() || text_.front() != '[') return false;
  Scanner scanner = scan(text_.substr(1));
  scanner.space();
  if (scanner.take(']')) return true;
  do {
    out.push_back(JsonView(scanner.skip()));
    scanner.space();
  } while (scanner.take(','));
  return true;
}

}  // namespace hai
