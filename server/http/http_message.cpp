#include "server/http/http_message.h"

#include <algorithm>

namespace hai {

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool has_control_character(std::string_view text) {
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
  }
  return false;
}

bool parse_query(std::string_view text, HttpRequest& request) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    auto key = percent_decode(pair.substr(0, equals), true);
    auto value = percent_decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!key || !value) return false;
    request.query.emplace_back(std::move(*key), std::move(*value));
  }
  return true;
}

}  // namespace

std::string_view HttpRequest::query_value(std::string_view key) const {
  for (const auto& [name, value] : query) {
    if (name == key) return value;
  }
  return {};
}

std::string_view HttpRequest::header(const std::string& name) const {
  auto found = headers.find(name);
  return found == headers.end() ? std::string_view() : found->second;
}

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      result += ' ';
    } else if (text[i] != '%') {
      result += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      result += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return result;
}

bool is_for_socket(const HttpRequest& request) {
  const auto has = [&request](const char* name, std::string_view word) {
    std::string value(request.header(name));
    for (char& c : value) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
    return value.find(word) != std::string::npos;
  };
  return request.method == "GET" && has("connection", "upgrade") && has("upgrade", "websocket");
}

bool parse_target(std::string_view target, HttpRequest& request) {
  const size_t question = std::min(target.find('?'), target.size());
  auto path = percent_decode(target.substr(0, question), false);
  if (!path || !path->starts_with('/') || has_control_character(*path)) return false;
  request.target = target;
  request.path = std::move(*path);
  return parse_query(target.substr(std::min(question + 1, target.size())), request);
}

}  // namespace hai
