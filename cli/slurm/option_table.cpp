#include "cli/slurm/option_table.h"

#include <string>
#include <vector>

#include "common/nearest.h"

namespace hai::cli::slurm {
namespace {

// visit(option) until it returns true.
template <typename Visit>
const Option* find_if(Command command, const Visit& visit) {
  for (const Option& option : own_options(command)) {
    if (visit(option)) return &option;
  }
  if (!submits_jobs(command)) return nullptr;
  for (const Option& option : common_job_options()) {
    if (visit(option)) return &option;
  }
  return nullptr;
}

}  // namespace

bool submits_jobs(Command command) {
  return command == Command::sbatch || command == Command::srun || command == Command::salloc;
}

std::string_view to_string(Command command) {
  switch (command) {
    case Command::sbatch:
      return "sbatch";
    case Command::srun:
      return "srun";
    case Command::salloc:
      return "salloc";
    case Command::squeue:
      return "squeue";
    case Command::scancel:
      return "scancel";
    case Command::sinfo:
      return "sinfo";
    case Command::scontrol:
      return "scontrol";
    case Command::sacct:
      return "sacct";
  }
  return "unknown";
}

std::string_view to_string(Treatment treatment) {
  switch (treatment) {
    case Treatment::mapped:
    case Treatment::anyway:
      return "mapped";
    case Treatment::warned:
      return "warned";
    case Treatment::refused:
      return "refused";
  }
  return "unknown";
}

const Option* find_option(Command command, std::string_view name) {
  if (const Option* exact = find_if(command, [&](const Option& o) { return o.name == name; })) {
    return exact;
  }
  // As getopt_long: a beginning is enough if it is nobody else's.
  const Option* found = nullptr;
  bool is_clear = !name.empty();
  find_if(command, [&](const Option& option) {
    if (!option.name.starts_with(name)) return false;
    is_clear = is_clear && found == nullptr;
    found = &option;
    return false;
  });
  return is_clear ? found : nullptr;
}

const Option* find_option(Command command, char letter) {
  return find_if(command, [&](const Option& option) { return option.letter == letter; });
}

std::string_view nearest_option(Command command, std::string_view name) {
  std::vector<std::string> names;
  find_if(command, [&](const Option& option) {
    names.emplace_back(option.name);
    return false;
  });
  const std::string near = nearest(name, names);
  const Option* option = near.empty() ? nullptr : find_option(command, near);
  return option == nullptr ? "" : option->name;
}

}  // namespace hai::cli::slurm
