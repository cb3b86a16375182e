// --export: which variables, and functions of the shell, a job gets from where it was submitted.

#include <fmt/core.h>

#include <array>

#include "cli/slurm/map_job.h"
#include "common/text_check.h"

namespace hai::cli::slurm {
namespace {

// Variables that a job gets from hai or from its node, so the submitter's must not replace them.
bool is_of_the_place(std::string_view name) {
  // Which cluster to talk to: for the commands that the script itself calls.
  if (name == "HAI_CONFIG" || name == "HAI_CONTEXT") return false;
  constexpr auto kPrefixes =
      std::to_array<std::string_view>({"HAI_", "MARSV2_", "SLURM_", "SLURMD_", "SSH_", "XDG_"});
  constexpr auto kNames = std::to_array<std::string_view>({"CUDA_VISIBLE_DEVICES",
                                                           "CUDA_DEVICE_ORDER",
                                                           "TMPDIR",
                                                           "MASTER_ADDR",
                                                           "MASTER_PORT",
                                                           "MASTER_IP",
                                                           "RANK",
                                                           "WORLD_SIZE",
                                                           "LOCAL_RANK",
                                                           "LOCAL_WORLD_SIZE",
                                                           "NODE_RANK",
                                                           "NNODES",
                                                           "GROUP_RANK",
                                                           "NODE_NAME",
                                                           "CHAIN_ID",
                                                           "USER",
                                                           "LOGNAME",
                                                           "HOSTNAME",
                                                           "PWD",
                                                           "OLDPWD",
                                                           "SHLVL",
                                                           "_",
                                                           "DISPLAY",
                                                           "DBUS_SESSION_BUS_ADDRESS",
                                                           "WINDOWID",
                                                           "TERM_PROGRAM",
                                                           "TTY"});
  for (const std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix)) return true;
  }
  for (const std::string_view known : kNames) {
    if (name == known) return true;
  }
  return false;
}

bool is_name(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return !name.empty() && name.size() <= 255 && (name[0] < '0' || name[0] > '9') &&
         name.find_first_not_of(kLetters) == std::string_view::npos;
}

// "BASH_FUNC_module%%", or "BASH_FUNC_module()" of older bashes.
bool is_function(std::string_view name, std::string_view value) {
  constexpr std::string_view kStart = "BASH_FUNC_";
  if (!name.starts_with(kStart) || !value.starts_with("() {")) return false;
  return name.ends_with("%%") || name.ends_with("()");
}

bool is_sendable(std::string_view value) {
  return value.size() <= 65'536 && !find_bad_text(value, ControlCharacters::allow);
}

Status add_item(std::string_view item, const EnvironmentMap& environment, EnvironmentMap& out) {
  const size_t equals = item.find('=');
  const std::string name(item.substr(0, equals));
  if (!is_name(name)) {
    return invalid_argument("'{}' is no name of a variable", name.substr(0, 64));
  }
  if (is_of_the_place(name)) return ok();
  if (equals != std::string_view::npos) {
    out[name] = std::string(item.substr(equals + 1));
  } else if (const auto found = environment.find(name); found != environment.end()) {
    out[name] = found->second;
  }
  return ok();
}

}  // namespace

EnvironmentMap take_functions(EnvironmentMap& environment) {
  EnvironmentMap functions;
  for (auto entry = environment.begin(); entry != environment.end();) {
    if (is_function(entry->first, entry->second)) {
      functions.insert(environment.extract(entry++));
    } else {
      ++entry;
    }
  }
  return functions;
}

Result<EnvironmentMap> exported(std::string_view choice, const EnvironmentMap& environment) {
  EnvironmentMap out;
  if (choice == "NONE" || choice == "NIL") return out;
  bool first = true;
  while (true) {
    const size_t comma = choice.find(',');
    const std::string_view item = choice.substr(0, comma);
    if (first && item == "ALL") {
      for (const auto& [name, value] : environment) {
        // What no text can hold stays behind.
        const bool is_variable = is_name(name) && !is_of_the_place(name);
        if ((is_variable || is_function(name, value)) && is_sendable(value)) out[name] = value;
      }
    } else {
      RETURN_IF_ERROR(add_item(item, environment, out));
    }
    first = false;
    if (comma == std::string_view::npos) return out;
    choice.remove_prefix(comma + 1);
  }
}

}  // namespace hai::cli::slurm
