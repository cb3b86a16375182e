#pragma once
// What a verb says about itself besides its options: written in the verb's own file, shown by
// --help and by its man page alike.

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hai::cli {

struct Example {
  std::string command;  // "hai list -s running"
  std::string does;     // one line, lower case
};

struct VerbHelp {
  std::string details = {};  // paragraphs, an empty line between two
  std::vector<Example> examples = {};
  std::string exit_codes = {};  // only if they differ from those of `hai --help`
  std::string usage = {};       // what follows the verb; "" = made from its options
};

// By the parser of the verb, which must live as long.
using HelpBook = std::map<const CLI::App*, VerbHelp>;

}  // namespace hai::cli
