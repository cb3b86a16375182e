#include "cli/arguments.h"

#include <algorithm>

namespace hai::cli {
namespace {

// Index of the verb: the first word that is neither a global option nor an option's value.
size_t verb_index(const std::vector<std::string>& words) {
  size_t i = 0;
  while (i < words.size() && words[i].starts_with('-')) i += words[i] == "--context" ? 2 : 1;
  return std::min(i, words.size());
}

bool is_launcher(const std::string& verb) {
  return verb == "python" || verb == "bash" || verb == "exec";
}

bool is_help(const std::string& word) { return word == "-h" || word == "--help"; }

}  // namespace

Arguments split_arguments(const std::vector<std::string>& words) {
  Arguments arguments;
  const size_t verb = verb_index(words);
  if (verb == words.size() || !is_launcher(words[verb]) || verb + 1 == words.size() ||
      is_help(words[verb + 1])) {
    arguments.options = words;
    // HAI's `list -ps SIZE`: a short option of two letters, which no parser would take.
    if (verb < words.size() && words[verb] == "list") {
      std::replace(arguments.options.begin(), arguments.options.end(), std::string("-ps"),
                   std::string("--page-size"));
    }
    return arguments;
  }
  const auto program = words.begin() + static_cast<std::ptrdiff_t>(verb) + 1;
  // The last one: the program may have a "--" of its own, hai's options never do.
  const auto last = std::find(words.rbegin(), std::make_reverse_iterator(program), "--");
  arguments.is_submission = last != std::make_reverse_iterator(program);
  const auto end = arguments.is_submission ? last.base() - 1 : words.end();
  arguments.options.assign(words.begin(), program);
  arguments.program.assign(program, end);
  if (arguments.is_submission) {
    arguments.options.insert(arguments.options.end(), end + 1, words.end());
  }
  return arguments;
}

}  // namespace hai::cli
