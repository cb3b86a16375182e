#include "cli/slurm/mpi_option.h"

namespace hai::cli::slurm {
namespace {

bool is_pmix(std::string_view type) { return type == "pmix" || type == "pmix_v4"; }

}  // namespace

bool asks_mpi_list(const ParsedWords& words) { return words.value_of("mpi") == "list"; }

bool wants_pmix(const ParsedWords& words) { return is_pmix(words.value_of("mpi")); }

Status check_mpi(const ParsedWords& words) {
  const GivenOption* given = words.find("mpi");
  if (given == nullptr || given->value == "none") return ok();
  if (!is_pmix(given->value)) {
    return option_error(*given, "none, pmix (as PMIx 4 has it) or list; or use mpirun");
  }
  if (words.has("pty")) return option_error(*given, "not with --pty, which is for one task");
  // Its server would need a library of the image's own.
  if (words.has("container-image")) {
    return option_error(*given, "not in a container image: use mpirun");
  }
  return ok();
}

bool kills_on_bad_exit(const ParsedWords& words) {
  const GivenOption* given = words.find("kill-on-bad-exit");
  return given != nullptr ? given->value != "0" : wants_pmix(words);
}

}  // namespace hai::cli::slurm
