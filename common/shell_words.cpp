#include "common/shell_words.h"

namespace hai {
namespace {

constexpr std::string_view kWordBlanks = " \t\n\r";
constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

// Reads words one by one; `position_` is always behind what has been read.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> split() {
    std::vector<std::string> words;
    if (text_.find('\0') != std::string_view::npos) {
      return invalid_argument("parameters contain a NUL byte");
    }
    while (true) {
      position_ = text_.find_first_not_of(kWordBlanks, position_);
      if (position_ == std::string_view::npos) return words;
      if (words.size() == kWordsMax) {
        return invalid_argument("parameters have more than {} words", kWordsMax);
      }
      std::string word;
      bool is_word = false;
      RETURN_IF_ERROR(read_word(word, is_word));
      if (is_word) words.push_back(std::move(word));
    }
  }

 private:
  bool at_end() const { return position_ == text_.size(); }

  // is_word stays false for a lone line continuation; "" is a word.
  Status read_word(std::string& word, bool& is_word) {
    while (!at_end() && kWordBlanks.find(text_[position_]) == std::string_view::npos) {
      const char c = text_[position_++];
      if (c == '\'') {
        RETURN_IF_ERROR(read_single_quoted(word));
      } else if (c == '"') {
        RETURN_IF_ERROR(read_double_quoted(word));
      } else if (c != '\\') {
        word += c;
      } else if (at_end()) {
        return invalid_argument("parameters end with a lone backslash");
      } else if (text_[position_] == '\n') {
        ++position_;
        continue;
      } else {
        word += text_[position_++];
      }
      is_word = true;
    }
    return ok();
  }

  Status read_single_quoted(std::string& word) {
    const size_t end = text_.find('\'', position_);
    if (end == std::string_view::npos) return open_quote('\'');
    word += text_.substr(position_, end - position_);
    position_ = end + 1;
    return ok();
  }

  Status read_double_quoted(std::string& word) {
    const size_t begin = position_;
    while (!at_end()) {
      const char c = text_[position_++];
      if (c == '"') return ok();
      if (c != '\\' || at_end()) {
        word += c;
        continue;
      }
      // Inside double quotes a backslash escapes only these; before others it stands for itself.
      const char escaped = text_[position_++];
      if (escaped == '\n') continue;
      if (std::string_view("$`\"\\").find(escaped) == std::string_view::npos) word += '\\';
      word += escaped;
    }
    position_ = begin;
    return open_quote('"');
  }

  Status open_quote(char quote) const {
    return invalid_argument("parameters: the quote {} at character {} is not closed", quote,
                            position_);
  }

  std::string_view text_;
  size_t position_ = 0;
};

void add_quoted(std::string_view word, std::string& text) {
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    text += word;
    return;
  }
  text += '\'';
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  text += '\'';
}

}  // namespace

Result<std::vector<std::string>> split_parameters(std::string_view text) {
  return Splitter(text).split();
}

std::string join_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    add_quoted(word, text);
  }
  return text;
}

}  // namespace hai
