#include "server/store/pg_array.h"

namespace hai {
namespace {

// One element from `at` on, which may be quoted; false if the literal is broken.
bool read_element(std::string_view text, size_t& at, std::string& out) {
  if (text[at] != '"') {
    while (at < text.size() && text[at] != ',') out += text[at++];
    return true;
  }
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') return ++at, true;
    if (text[at] == '\\' && ++at == text.size()) return false;
    out += text[at];
  }
  return false;
}

}  // namespace

bool parse_text_array(std::string_view text, std::vector<std::string>& out) {
  out.clear();
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return false;
  text = text.substr(1, text.size() - 2);
  for (size_t at = 0; at < text.size(); ++at) {  // steps over the comma
    if (!read_element(text, at, out.emplace_back())) return false;
    if (at < text.size() && text[at] != ',') return false;
  }
  return true;
}

}  // namespace hai
