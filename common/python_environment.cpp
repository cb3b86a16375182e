#include "common/python_environment.h"

#include <algorithm>
#include <filesystem>

#include "common/account_name.h"

namespace hai {
namespace {

constexpr size_t kEnvironmentNameMax = 64;
constexpr size_t kFolderMax = 1'000;

bool may_be_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

Result<PythonEnvironment> by_folder(std::string_view text) {
  // PATH has colons between its folders.
  const bool is_odd = text.find(':') != std::string_view::npos ||
                      std::ranges::any_of(text, [](char c) { return c >= 0 && c < ' '; });
  if (text.size() > kFolderMax || is_odd) {
    return invalid_argument("the folder of an environment has no colon and at most {} bytes",
                            kFolderMax);
  }
  std::string folder = std::filesystem::path(text).lexically_normal().string();
  if (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return PythonEnvironment{.folder = std::move(folder)};
}

}  // namespace

Status check_python_environment_name(std::string_view name) {
  const bool is_name = !name.empty() && name.size() <= kEnvironmentNameMax && name.front() != '.' &&
                       name.front() != '-' && std::ranges::all_of(name, may_be_in_name);
  if (is_name) return ok();
  return invalid_argument(
      "an environment's name is 1..{} of the characters A-Z a-z 0-9 . _ -, the first a letter, a "
      "digit or _, not '{}'",
      kEnvironmentNameMax, name.substr(0, kEnvironmentNameMax));
}

Result<PythonEnvironment> parse_python_environment(std::string_view text) {
  if (text.starts_with('/')) return by_folder(text);
  const size_t bracket = text.find('[');
  PythonEnvironment environment{.name = std::string(text.substr(0, bracket))};
  RETURN_IF_ERROR(check_python_environment_name(environment.name));
  if (bracket == std::string_view::npos) return environment;
  if (!text.ends_with(']')) {
    return invalid_argument("write whose environment it is as {}[OWNER]", environment.name);
  }
  environment.owner = text.substr(bracket + 1, text.size() - bracket - 2);
  RETURN_IF_ERROR(check_account_name("owner of an environment", environment.owner));
  return environment;
}

std::string folder_of(const PythonEnvironment& environment, const std::string& home) {
  if (!environment.folder.empty()) return environment.folder;
  return (std::filesystem::path(home) / kPythonEnvironmentsFolder / environment.name).string();
}

}  // namespace hai
