#include "cli/workspace.h"

#include <filesystem>

#include "cli/file.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

std::string read_place(const fs::path& folder) {
  const Result<std::string> text = read_file((folder / kWorkspaceFile).string());
  if (!text.is_ok()) return "";
  return text.value().substr(0, text.value().find('\n'));
}

}  // namespace

std::optional<Workspace> find_workspace(const std::string& folder) {
  fs::path here = fs::path(folder).lexically_normal();
  if (!here.has_filename()) here = here.parent_path();
  for (;;) {
    std::string there = read_place(here);
    if (check_place(there).is_ok()) return Workspace{here.string(), std::move(there)};
    if (here == here.parent_path()) return std::nullopt;
    here = here.parent_path();
  }
}

std::string on_nodes(const std::string& folder) {
  const std::optional<Workspace> workspace = find_workspace(folder);
  if (!workspace) return folder;
  const fs::path within = fs::path(folder).lexically_normal().lexically_relative(workspace->here);
  return within == "." ? workspace->there : (fs::path(workspace->there) / within).string();
}

Status remember_workspace(const Workspace& workspace) {
  return write_file((fs::path(workspace.here) / kWorkspaceFile).string(), workspace.there + "\n",
                    0644);
}

Status check_place(const std::string& there) {
  const bool is_one_line = there.find_first_of("\n\r\t") == std::string::npos;
  if (there.starts_with('/') && is_one_line && fs::path(there).has_filename() &&
      fs::path(there).lexically_normal() != "/") {
    return ok();
  }
  return invalid_argument(
      "where it is on the cluster must be an absolute path of one line, is '{}'",
      there.substr(0, 200));
}

}  // namespace hai::cli
