#pragma once
// The words of the command line before any option is looked at. `hai python FILE ARGS -- OPTIONS`:
// what stands before the last "--" belongs to the program, what follows to hai; without a "--" the
// program runs here, as in HAI, and with `++ -ss SECONDS -ls STATE` as if it were a job.

#include <string>
#include <vector>

namespace hai::cli {

struct Arguments {
  std::vector<std::string> options;  // for the parser: global options, the verb, hai's options
  std::vector<std::string> program;  // only for python, bash and exec
  bool is_submission = false;        // there was a "--"
  bool is_simulation = false;        // there was a "++"
  bool operator==(const Arguments&) const = default;
};

// Index of python, bash or exec, if that is the verb; else the number of words.
size_t launcher_index(const std::vector<std::string>& words);

Arguments split_arguments(const std::vector<std::string>& words);

}  // namespace hai::cli
