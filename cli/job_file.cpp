#include "cli/job_file.h"

#include <unistd.h>

#include <filesystem>

#include "cli/file.h"
#include "common/config/yaml_tree.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

// "resource.group" of "resource.group: there is no ..."; "" if the message begins otherwise.
std::string_view field_of(std::string_view message) {
  const std::string_view field = message.substr(0, message.find(": "));
  if (field.size() == message.size()) return "";
  const bool is_path =
      field.find_first_not_of("abcdefghijklmnopqrstuvwxyz_.") == std::string_view::npos;
  return is_path ? field : "";
}

bool has_interpreter(const std::string& file) {
  return file.ends_with(".py") || file.ends_with(".sh");
}

}  // namespace

int JobFile::line_of(std::string_view path) const {
  YamlNode root;
  if (path.empty() || parse_yaml(text, &root)) return 0;
  const YamlNode* node = &root;
  int line = 0;
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    const YamlEntry* entry = node->find(path.substr(0, dot));
    if (entry == nullptr) return 0;
    line = entry->line;
    node = &entry->value;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return line;
}

Status JobFile::locate(const Status& status) const {
  const int line = line_of(field_of(status.message()));
  if (line == 0) return status;
  return Status(status.code(), fmt::format("{}: line {}: {}", source, line, status.message()));
}

std::vector<FieldError> find_missing_files(const JobSpec& spec) {
  const auto fail = [](const char* path, std::string text) {
    return std::vector<FieldError>{{0, path, std::move(text)}};
  };
  std::error_code error;
  if (!fs::is_directory(spec.workspace, error)) {
    return fail("spec.workspace", fs::exists(spec.workspace, error)
                                      ? spec.workspace + " is not a directory"
                                      : "there is no directory " + spec.workspace);
  }
  // A bare word may also be a program that each node finds in its PATH, or the image.
  const fs::path file = fs::path(spec.workspace) / spec.entrypoint;
  const bool is_bare = spec.entrypoint.find('/') == std::string::npos;
  const bool may_be_of_image = is_bare || spec.entrypoint.starts_with('/');
  if (!spec.image.empty() && may_be_of_image && !fs::exists(file, error)) return {};
  if (!fs::exists(file, error)) {
    if (is_bare && !find_in_path(spec.entrypoint).empty()) return {};
    return fail("spec.entrypoint", "there is no file " + file.string());
  }
  if (!fs::is_regular_file(file, error)) {
    return fail("spec.entrypoint", file.string() + " is not a file");
  }
  if (!has_interpreter(spec.entrypoint) && access(file.c_str(), X_OK) != 0) {
    return fail("spec.entrypoint", file.string() +
                                       " is not executable: chmod +x it, or name it "
                                       ".py or .sh");
  }
  return {};
}

}  // namespace hai::cli
