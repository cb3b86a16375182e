// The hai-slurm of jobs in container images: what runs their scripts and steps. An image has none
// of the node's libraries, so this program needs none, and talks to no server.

#include <fmt/core.h>
#include <nss.h>

#include <array>
#include <cstdio>

#include "cli/exit_code.h"
#include "cli/slurm/console.h"
#include "cli/slurm/host_lists.h"
#include "cli/slurm/input_variables.h"
#include "cli/slurm/job_plan.h"
#include "cli/slurm/srun_inside.h"
#include "cli/slurm/step/client.h"
#include "cli/slurm/step/run_job.h"
#include "cli/slurm/step_cancel.h"

namespace hai::cli::slurm {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kElsewhere =
    "works outside of container images only: call it where you submit jobs";

int run_lister(Texts words) {
  constexpr auto kThings = std::to_array<std::string_view>({"hostname", "hostlist"});
  const bool is_shown = words.size() > 1 && words[0] == "show";
  std::string thing = is_shown ? words[1] : "";
  if (thing.ends_with('s')) thing.pop_back();
  if (!is_shown || (thing != kThings[0] && thing != kThings[1])) {
    return usage_error(
        Command::scontrol,
        fmt::format("in an image only show hostnames and hostlist; the rest {}", kElsewhere));
  }
  words.erase(words.begin(), words.begin() + 2);
  return thing == kThings[0] ? show_hostnames(words) : show_hostlist(words);
}

int run_in_image(std::string_view called, const Texts& words) {
  called.remove_prefix(called.rfind('/') == std::string_view::npos ? 0 : called.rfind('/') + 1);
  if (words == Texts{"--run-job"}) {
    std::vector<std::string_view> names;
    for (const Command command : kCommands) names.push_back(to_string(command));
    return run_job(names);
  }
  if (!words.empty() && words[0] == "--cancel-step") {
    return run_cancel_step({words.begin() + 1, words.end()});
  }
  if (called == "scontrol") return run_lister(words);
  if (called == "scancel") return run_scancel_in_image(words);
  const std::string socket = own_variable(kStepSocketVariable).value_or("");
  if (called == "srun" && !socket.empty()) return run_srun_inside(words, socket);
  if (called == "srun") {
    return fail(Command::srun,
                failed_precondition("here srun starts nothing: it works in a script from sbatch, "
                                    "not in its tasks nor in other jobs"));
  }
  complain(called, kElsewhere);
  return kUsage;
}

}  // namespace
}  // namespace hai::cli::slurm

int main(int count, char** words) {
  // An image's own ways to find names are shared libraries, which were made for another C library
  // than the one in this program.
  ::__nss_configure_lookup("hosts", "files dns");
  return hai::cli::slurm::run_in_image(count > 0 ? words[0] : "",
                                       std::vector<std::string>(words + 1, words + count));
}
