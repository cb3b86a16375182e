#include "agent/os/shell_words.h"

namespace hai {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Inside double quotes a backslash quotes only these.
bool is_escapable_in_quotes(char c) {
  return c == '"' || c == '\\' || c == '$' || c == '`' || c == '\n';
}

}  // namespace

Result<std::vector<std::string>> split_shell_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\'') {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\\') {
      if (i + 1 == text.size())
        return invalid_argument("parameters end with a lone backslash: {}", text);
      const char next = text[++i];
      if (quote == '"' && !is_escapable_in_quotes(next)) word += c;
      if (next != '\n') word += next;  // A quoted newline joins lines.
      in_word = in_word || next != '\n';
    } else if (quote == '"') {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (is_blank(c)) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) return invalid_argument("parameters have an open quote {}: {}", quote, text);
  if (in_word) words.push_back(std::move(word));
  return words;
}

}  // namespace hai
