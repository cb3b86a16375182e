#include "cli/complete/cursor.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/arguments.h"
#include "cli/help/verb_doc.h"

namespace hai::cli {
namespace {

using Words = std::vector<std::string>;

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// The verb's own, else one of its parents': global options may stand anywhere.
const CLI::Option* option_named(const CLI::App& verb, const std::string& name) {
  for (const CLI::App* app = &verb; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : options_of(*app)) {
      if (option->nonpositional() && option->check_name(name)) return option;
    }
  }
  return nullptr;
}

// The operand at this place; the last one if it takes any number.
const CLI::Option* operand_at(const CLI::App& verb, size_t place) {
  const CLI::Option* last = nullptr;
  for (const CLI::Option* option : options_of(verb)) {
    if (option->nonpositional()) continue;
    last = option;
    if (place == 0) return option;
    --place;
  }
  return last != nullptr && last->get_items_expected_max() > 1 ? last : nullptr;
}

// Walks over the words before the cursor's.
class Walk {
 public:
  explicit Walk(const CLI::App& root) { cursor_.verb = &root; }

  void pass(const std::string& word) {
    if (const CLI::Option* option = std::exchange(awaiting_, nullptr)) {
      take(*option, word);
    } else if (word == "--") {
      only_operands_ = true;
    } else if (!only_operands_ && word.size() > 1 && word.starts_with('-')) {
      pass_option(word);
    } else if (const CLI::App* inner = operands_ == 0 ? verb_named(*cursor_.verb, word) : nullptr) {
      cursor_.verb = inner;
    } else {
      ++operands_;
    }
  }

  Cursor end(const std::string& word) {
    cursor_.word = word;
    if (awaiting_ != nullptr) return value(*awaiting_);
    if (!only_operands_ && word.starts_with('-')) return at_option(word);
    if (operands_ == 0 && !verbs_of(*cursor_.verb).empty()) {
      cursor_.kind = Cursor::Kind::verb;
      return cursor_;
    }
    const CLI::Option* operand = operand_at(*cursor_.verb, operands_);
    return operand == nullptr ? cursor_ : value(*operand);
  }

 private:
  void take(const CLI::Option& option, const std::string& word) {
    if (option.check_name("--context")) cursor_.context = word;
  }

  void pass_option(const std::string& word) {
    const size_t equals = word.find('=');
    const CLI::Option* option = option_named(*cursor_.verb, word.substr(0, equals));
    if (option == nullptr || !takes_value(*option)) return;
    if (equals == std::string::npos) {
      awaiting_ = option;
    } else {
      take(*option, word.substr(equals + 1));
    }
  }

  Cursor at_option(const std::string& word) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      cursor_.kind = Cursor::Kind::option;
      return cursor_;
    }
    const CLI::Option* option = option_named(*cursor_.verb, word.substr(0, equals));
    if (option == nullptr) return cursor_;
    cursor_.before = word.substr(0, equals + 1);
    cursor_.word = word.substr(equals + 1);
    return value(*option);
  }

  // Of a list such as running,queued only the last part is completed.
  Cursor value(const CLI::Option& option) {
    cursor_.kind = Cursor::Kind::value;
    cursor_.option = &option;
    const size_t comma = option.get_delimiter() == '\0'
                             ? std::string::npos
                             : cursor_.word.rfind(option.get_delimiter());
    if (comma != std::string::npos) {
      cursor_.before += cursor_.word.substr(0, comma + 1);
      cursor_.word = cursor_.word.substr(comma + 1);
    }
    return cursor_;
  }

  Cursor cursor_;
  const CLI::Option* awaiting_ = nullptr;  // its value is the next word
  size_t operands_ = 0;
  bool only_operands_ = false;  // after --
};

}  // namespace

Cursor find_cursor(const CLI::App& root, const Words& words) {
  Walk walk(root);
  if (words.empty()) return walk.end("");
  const auto current = words.end() - 1;
  auto begin = words.begin();
  const auto launcher = begin + static_cast<std::ptrdiff_t>(launcher_index(words));
  if (launcher < current) {
    // The program's words are its own; hai's options follow the last "--" or "++".
    const auto dashes =
        std::find_if(std::make_reverse_iterator(current), std::make_reverse_iterator(launcher + 1),
                     [](const std::string& word) { return word == "--" || word == "++"; });
    for (; begin <= launcher; ++begin) walk.pass(*begin);
    if (dashes == std::make_reverse_iterator(launcher + 1)) {
      Cursor cursor = walk.end(*current);
      cursor.kind = Cursor::Kind::program;
      return cursor;
    }
    begin = dashes.base();
  }
  for (; begin != current; ++begin) walk.pass(*begin);
  return walk.end(*current);
}

}  // namespace hai::cli
