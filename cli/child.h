#pragma once
// Programs that `hai` runs on this machine and waits for: ssh-keygen, git, rsync, python3.

#include <string>
#include <vector>

namespace hai::cli {

// With our terminal and files. Its exit code, 128 + the signal that ended it, 127 if there is no
// such program. Ctrl-C is for it and does not end us before it.
int run_child(std::vector<std::string> words);

// The same, what it writes to standard output into `output`.
int run_child(std::vector<std::string> words, std::string& output);

}  // namespace hai::cli
