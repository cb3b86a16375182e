#include <fmt/core.h>

#include <cstdlib>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/interactive.h"
#include "cli/session.h"
#include "cli/slurm/commands.h"
#include "cli/slurm/console.h"
#include "cli/slurm/input_variables.h"
#include "cli/slurm/map_container.h"
#include "cli/slurm/submit.h"

namespace hai::cli::slurm {
namespace {

constexpr Command kSalloc = Command::salloc;

// An image may lack the user's shell.
constexpr const char* kShell =
    "[ -x \"${SHELL:-/}\" ] && [ ! -d \"${SHELL:-/}\" ] && exec \"$SHELL\"; exec /bin/sh";

struct Allocation {
  MappedJob job;
  std::string script;  // that waits, on its first node, for the program in the terminal
  Words program;
};

Result<Allocation> understand_salloc(const ParsedWords& words) {
  const Result<Surroundings> here = surroundings(wall_now());
  RETURN_IF_ERROR(here.status());
  Result<MappedJob> job = map_job(words, "interactive", here.value());
  RETURN_IF_ERROR(job.status());
  Allocation asked{.job = std::move(job).value(), .script = {}, .program = words.operands};
  Result<std::string> script = make_terminal_script(asked.job.spec);
  if (!script.is_ok()) {
    return invalid_argument("{}: sbatch and srun work without one", script.status().message());
  }
  asked.script = std::move(script).value();
  if (asked.program.empty()) asked.program = {"/bin/sh", "-c", kShell};
  asked.program = begun_in(asked.job.plan.container_directory, std::move(asked.program));
  return asked;
}

}  // namespace

// The shell is on the first node of the job, as sites have it with use_interactive_step.
int run_salloc(Session& session, const Words& words) {
  const Result<ParsedWords> parsed = parse_with_environment(kSalloc, words, false);
  if (!parsed.is_ok()) return usage_error(kSalloc, parsed.status().message());
  if (is_only_asking(kSalloc, parsed.value())) return kOk;
  if (std::getenv("HAI_JOB_ID") != nullptr) {
    return fail(kSalloc, failed_precondition("this is in a job already"));
  }
  const Result<Allocation> asked = understand_salloc(parsed.value());
  if (!asked.is_ok()) return usage_error(kSalloc, asked.status().message());
  for (const std::string& line : asked.value().job.warnings) tell(kSalloc, line);
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kSalloc, client.status());
  const Result<int64_t> id =
      submit_job(kSalloc, *client.value(), asked.value().job, asked.value().script);
  if (!id.is_ok()) {
    const int code = fail(kSalloc, id.status());
    return code == kNotFound ? kRefused : code;
  }
  tell(kSalloc, fmt::format("Pending job allocation {}", id.value()));
  const int code = follow_terminal(session, *client.value(), id.value(), asked.value().program);
  tell(kSalloc, fmt::format("Relinquishing job allocation {}", id.value()));
  return code;
}

}  // namespace hai::cli::slurm
