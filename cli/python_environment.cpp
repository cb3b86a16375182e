#include "cli/python_environment.h"

#include <cstdlib>
#include <filesystem>

#include "cli/context_config.h"
#include "cli/session.h"
#include "common/python_environment.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The node looks for a name in homes only; what is kept elsewhere goes there as a folder.
Result<std::string> where_nodes_find_it(const std::string& text) {
  std::error_code error;
  if (text.find('/') != std::string::npos) {
    const fs::path folder = fs::absolute(text, error);
    if (error) return failed_precondition("the current directory is gone");
    return folder.lexically_normal().string();
  }
  const std::string kept = variable("HAIENV_PATH");
  if (!kept.empty() && fs::is_directory(fs::path(kept) / text, error)) {
    return (fs::absolute(kept, error) / text).string();
  }
  return text;
}

}  // namespace

std::string environments_folder() {
  if (std::string kept = variable("HAIENV_PATH"); !kept.empty()) return kept;
  return home_directory() + "/" + std::string(kPythonEnvironmentsFolder);
}

std::string active_environment() {
  std::string venv = variable("VIRTUAL_ENV");
  return venv.empty() ? variable("CONDA_PREFIX") : venv;
}

Status set_python_environment(const std::string& text, JobSpec& spec) {
  if (text.empty()) return ok();
  spec.environments.erase(kPythonEnvironment);
  if (text == "none") return ok();
  const Result<std::string> found = where_nodes_find_it(text);
  RETURN_IF_ERROR(found.status());
  if (const Status status = parse_python_environment(found.value()).status(); !status.is_ok()) {
    return invalid_argument("--venv: {}", status.message());
  }
  spec.environments[kPythonEnvironment] = found.value();
  return ok();
}

void keep_active_environment(JobSpec& spec) {
  const std::string active = active_environment();
  if (active.empty() || !spec.image.empty()) return;
  if (!parse_python_environment(active).is_ok()) return;
  spec.environments[kPythonEnvironment] = active;
  say(fmt::format("with the Python environment that is active here, {} (--venv none: without)",
                  active));
}

}  // namespace hai::cli
