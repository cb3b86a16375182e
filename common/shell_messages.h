#pragma once
// What the server asks of an agent when somebody wants into a rank (proto/hai/v1/shell.proto).

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/id.h"

namespace hai {

struct TerminalSize {
  int rows = 0;
  int columns = 0;
  bool operator==(const TerminalSize&) const = default;
};

struct ShellProgram {
  std::vector<std::string> argv;         // none: the user's login shell
  std::optional<TerminalSize> terminal;  // none: pipes
  std::string term;                      // kind of the terminal, as in TERM
  int port = 0;         // > 0: no program, but a connection to this port of the machine
  bool is_own = false;  // the port must be one of a program of the job's user
  std::string service;  // the port, by name (common/job_service.h); of a person's request only
  bool operator==(const ShellProgram&) const = default;
};

struct ShellRequest {
  std::string ticket;  // to be shown on the stream that answers; a secret of server and agent
  RankKey key;
  ShellProgram program;
  bool operator==(const ShellRequest&) const = default;
};

// In a request's key: no rank, but what hai-image keeps on the node. `program.argv` are its words
// (server/rpc/node_images.h). No job has it: an agent of before says that such a rank is gone.
inline constexpr RankKey kImagesOfNode = {JobId{std::numeric_limits<int64_t>::max()}, 1, 0};
// As a person names it in place of a job: "images/NODE".
inline constexpr std::string_view kImagesOfNodePrefix = "images/";

// The exit code of `hai-image look`: the job could not be launched there, and standard error says
// why. Any other one says nothing of the job.
inline constexpr int kLookRefused = 3;

inline constexpr const char* kShellTicketKey = "hai-shell";  // metadata of that stream
inline constexpr size_t kShellPieceBytes = 32 << 10;         // of input or output in one message
inline constexpr size_t kShellArgvBytesMax = 128 << 10;
inline constexpr int kTerminalSideMax = 10'000;

}  // namespace hai
