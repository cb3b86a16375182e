#pragma once
// Which Python environment a job's programs have: a venv or one of conda, by its folder or by the
// name under which `hai env create` made it. Kept as a variable of the job, as HAI's job files and
// `--venv` say it; the node puts its programs before all others.

#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

inline constexpr const char* kPythonEnvironment = "HAI_PY_VENV";
// Of named ones, below their owner's home.
inline constexpr std::string_view kPythonEnvironmentsFolder = ".hai/envs";

struct PythonEnvironment {
  std::string folder;  // absolute; "" = it has a name
  std::string name;
  std::string owner;  // "" = the job's user
  bool operator==(const PythonEnvironment&) const = default;
};

// "/srv/envs/llm", "llm", "llm[ann]". invalid_argument for anything else.
Result<PythonEnvironment> parse_python_environment(std::string_view text);
Status check_python_environment_name(std::string_view name);

// Where it is, if that is the home of its owner.
std::string folder_of(const PythonEnvironment& environment, const std::string& home);

}  // namespace hai
