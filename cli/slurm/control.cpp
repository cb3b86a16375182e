#include "cli/slurm/control.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/slurm/console.h"

namespace hai::cli::slurm {

int control_jobs(Command command, Client& client, const std::vector<std::string>& ids,
                 v1::JobAction action, const std::string& note) {
  constexpr size_t kAtOnce = 1'000;
  int exit_code = kOk;
  for (size_t begin = 0; begin < ids.size(); begin += kAtOnce) {
    v1::ControlJobRequest request;
    request.set_action(action);
    for (size_t i = begin; i < std::min(ids.size(), begin + kAtOnce); ++i) request.add_jobs(ids[i]);
    const Result<v1::ControlJobReply> reply = client.control_job(request);
    if (!reply.is_ok()) return fail(command, reply.status());
    for (const v1::ControlResult& result : reply.value().results()) {
      if (result.code() == 0) continue;
      const Status status(static_cast<Code>(result.code()), result.message());
      const std::string what =
          status.code() == Code::not_found ? "Invalid job id specified" : result.message();
      complain(command, fmt::format("{} on job id {}: {}", note, result.name(), what));
      if (exit_code == kOk) exit_code = exit_code_of(status);
    }
  }
  return exit_code;
}

}  // namespace hai::cli::slurm
