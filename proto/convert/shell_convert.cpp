#include "proto/convert/shell_convert.h"

#include <algorithm>

#include "hai/v1/agent.pb.h"
#include "proto/convert/limits.h"
#include "proto/convert/rank_key_convert.h"

namespace hai {
namespace {

constexpr size_t kWordsMax = 4'096;
constexpr size_t kTermBytesMax = 64;
constexpr size_t kTicketBytesMax = 128;
constexpr size_t kServiceBytesMax = 64;
constexpr int kShellPortMax = 65'535;

}  // namespace

void to_proto(const ShellProgram& program, v1::ShellProgram& out) {
  for (const std::string& word : program.argv) out.add_argv(word);
  if (program.terminal) {
    out.mutable_terminal()->set_rows(program.terminal->rows);
    out.mutable_terminal()->set_columns(program.terminal->columns);
  }
  out.set_term(program.term);
  out.set_port(program.port);
  out.set_is_own(program.is_own);
}

void to_proto(const ShellRequest& request, v1::OpenShell& out) {
  out.set_ticket(request.ticket);
  to_proto(request.key, *out.mutable_key());
  to_proto(request.program, *out.mutable_program());
}

Result<TerminalSize> from_proto(const v1::TerminalSize& message) {
  RETURN_IF_ERROR(check_range("rows", message.rows(), 0, kTerminalSideMax));
  RETURN_IF_ERROR(check_range("columns", message.columns(), 0, kTerminalSideMax));
  return TerminalSize{.rows = message.rows(), .columns = message.columns()};
}

Result<ShellProgram> from_proto(const v1::ShellProgram& message) {
  RETURN_IF_ERROR(check_size("argv", static_cast<size_t>(message.argv_size()), kWordsMax));
  RETURN_IF_ERROR(check_size("term", message.term().size(), kTermBytesMax));
  RETURN_IF_ERROR(check_size("service", message.service().size(), kServiceBytesMax));
  RETURN_IF_ERROR(check_range("port", message.port(), 0, kShellPortMax));
  ShellProgram program{.argv = {message.argv().begin(), message.argv().end()},
                       .terminal = {},
                       .term = message.term(),
                       .port = message.port(),
                       .is_own = message.is_own(),
                       .service = message.service()};
  size_t bytes = 0;
  for (const std::string& word : program.argv) bytes += word.size() + 1;
  RETURN_IF_ERROR(check_size("argv", bytes, kShellArgvBytesMax));
  const bool has_zero = std::ranges::any_of(
      program.argv, [](const std::string& word) { return word.find('\0') != std::string::npos; });
  if (has_zero) return invalid_argument("argv: a word has a zero byte");
  if (!program.argv.empty() && program.argv[0].empty()) {
    return invalid_argument("argv: the program has no name");
  }
  if (program.term.find_first_of(std::string_view("\0/\n", 3)) != std::string::npos) {
    return invalid_argument("term: '/' and line breaks are not allowed");
  }
  if (message.has_terminal()) {
    Result<TerminalSize> size = from_proto(message.terminal());
    RETURN_IF_ERROR(size.status());
    program.terminal = size.value();
  }
  if ((program.port > 0 || !program.service.empty()) &&
      (!program.argv.empty() || program.terminal)) {
    return invalid_argument("port: goes with no program and no terminal");
  }
  if (program.port > 0 && !program.service.empty())
    return invalid_argument("service: goes with no port");
  return program;
}

Result<ShellRequest> from_proto(const v1::OpenShell& message) {
  RETURN_IF_ERROR(check_size("ticket", message.ticket().size(), kTicketBytesMax));
  ShellRequest request{.ticket = message.ticket(), .key = {}, .program = {}};
  RETURN_IF_ERROR(from_proto(message.key(), request.key));
  Result<ShellProgram> program = from_proto(message.program());
  RETURN_IF_ERROR(program.status());
  request.program = std::move(program).value();
  return request;
}

}  // namespace hai
