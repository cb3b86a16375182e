#pragma once
// Where the cursor stands in a command line that is not finished: at a verb, an option, or the
// value of an option or operand. Pure: the parser's tree and words in, a place out.

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hai::cli {

struct Cursor {
  enum class Kind {
    verb,     // of `verb`, or its options if the word begins with -
    option,   // a name of `verb`'s options
    value,    // of `option`
    program,  // a word of the program that python, bash and exec submit
    nothing,
  };
  Kind kind = Kind::nothing;
  const CLI::App* verb = nullptr;
  const CLI::Option* option = nullptr;
  std::string before;   // what is typed of the word and must stay: "--output=", "running,"
  std::string word;     // the rest of it, to be completed
  std::string context;  // --context, if it was given
};

// `words` without "hai"; the last one is being typed and may be "".
Cursor find_cursor(const CLI::App& root, const std::vector<std::string>& words);

}  // namespace hai::cli
