#pragma once
// The words of the command line before any option is looked at. `hai python FILE ARGS -- OPTIONS`:
// what stands before the last "--" belongs to the program, what follows to hai; without a "--" the
// program runs here, as in HAI.

#include <string>
#include <vector>

namespace hai::cli {

struct Arguments {
  std::vector<std::string> options;  // for the parser: global options, the verb, hai's options
  std::vector<std::string> program;  // only for python, bash and exec
  bool is_submission = false;        // there was a "--"
  bool operator==(const Arguments&) const = default;
};

Arguments split_arguments(const std::vector<std::string>& words);

}  // namespace hai::cli
