#pragma once
// Somebody's terminal, files or connection on one side, a program in a rank on the other.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/status.h"

namespace hai::v1 {
class ShellOpen;
class TerminalSize;
}  // namespace hai::v1

namespace hai::cli {

class Client;
class ShellCall;

// Descriptors; `error` may be the same as `output`.
struct ShellFiles {
  int input = 0;
  int output = 1;
  int error = 2;
};

// All zero if it is none.
v1::TerminalSize terminal_size(int fd);

enum class InputKind { bytes, terminal };

// Carries bytes both ways until the program has ended, and returns its exit code. From a terminal
// also its changes of size, and "~." after a line break ends it here, as with ssh. Then, and where
// nobody takes its output any more, `cancelled`.
Result<int> carry_shell(ShellCall& call, const ShellFiles& files, InputKind kind);

// Opens what is asked and carries the bytes of this process's standard input, output and error;
// with its terminal, which becomes that of the program. Its exit code, or 130 if the person has
// left, who is told so, and what becomes of the job.
Result<int> enter_job(Client& client, v1::ShellOpen open, bool with_terminal,
                      std::string_view then = "it goes on");

struct ShellOutput {
  int exit_code = 0;
  std::string output;
  std::string errors;
};
// Runs what is asked to its end, without a terminal or input.
Result<ShellOutput> run_to_end(Client& client, const v1::ShellOpen& open);

}  // namespace hai::cli
