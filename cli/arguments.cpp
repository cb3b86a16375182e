#include "cli/arguments.h"

#include <algorithm>
#include <utility>

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

size_t launcher_index(const std::vector<std::string>& words) {
  const size_t verb = verb_index(words);
  return verb < words.size() && is_launcher(words[verb]) ? verb : words.size();
}

Arguments split_arguments(const std::vector<std::string>& words) {
  Arguments arguments;
  const size_t verb = verb_index(words);
  if (verb == words.size() || !is_launcher(words[verb]) || verb + 1 == words.size() ||
      is_help(words[verb + 1])) {
    arguments.options = words;
    // HAI's `list -ps SIZE`: a short option of two letters, which no parser would take.
    if (verb < words.size() && words[verb] == "list") {
      for (const char* word : {"-ps", "--page_size"}) {
        std::replace(arguments.options.begin(), arguments.options.end(), std::string(word),
                     std::string("--page-size"));
      }
    }
    return arguments;
  }
  const auto program = words.begin() + static_cast<std::ptrdiff_t>(verb) + 1;
  // The last one: the program may have a "--" of its own, hai's options never do.
  const auto begin = std::make_reverse_iterator(program);
  const auto last = std::find_if(
      words.rbegin(), begin, [](const std::string& word) { return word == "--" || word == "++"; });
  const bool is_split = last != begin;
  arguments.is_submission = is_split && *last == "--";
  arguments.is_simulation = is_split && *last == "++";
  const auto end = is_split ? last.base() - 1 : words.end();
  arguments.options.assign(words.begin(), program);
  arguments.program.assign(program, end);
  if (is_split) arguments.options.insert(arguments.options.end(), end + 1, words.end());
  // HAI's short options of two letters.
  if (arguments.is_simulation) {
    for (const auto& [word, option] : {std::pair{"-ss", "--suspend-seconds"},
                                       {"--suspend_seconds", "--suspend-seconds"},
                                       {"-ls", "--life-state"},
                                       {"--life_state", "--life-state"}}) {
      std::replace(arguments.options.begin(), arguments.options.end(), std::string(word),
                   std::string(option));
    }
  }
  return arguments;
}

}  // namespace hai::cli
