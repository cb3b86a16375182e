#pragma once
// common/shell_messages.h ↔ protobuf. from_proto is total, as in agent_convert.h: a value within
// the limits, or invalid_argument.

#include "common/shell_messages.h"
#include "common/status.h"

namespace hai {

namespace v1 {  // include hai/v1/shell.pb.h and agent.pb.h where they are used
class OpenShell;
class ShellProgram;
class TerminalSize;
}  // namespace v1

void to_proto(const ShellProgram& program, v1::ShellProgram& out);
void to_proto(const ShellRequest& request, v1::OpenShell& out);

Result<ShellProgram> from_proto(const v1::ShellProgram& message);
Result<ShellRequest> from_proto(const v1::OpenShell& message);
Result<TerminalSize> from_proto(const v1::TerminalSize& message);

}  // namespace hai
