#pragma once
// A folder here whose files are also on the cluster's storage: `hai workspace push` brings them
// there, and remembers where in a file in the folder.

#include <optional>
#include <string>

#include "common/status.h"

namespace hai::cli {

inline constexpr const char* kWorkspaceFile = ".hai-workspace";

struct Workspace {
  std::string here;   // the folder, absolute
  std::string there;  // an absolute path on the nodes
};

// Of the folder, or of one above it.
std::optional<Workspace> find_workspace(const std::string& folder);
// Where what is in `folder` is on the nodes: there, if it is one or lies in one; else as here.
std::string on_nodes(const std::string& folder);

Status remember_workspace(const Workspace& workspace);
// An absolute path of one line, and not the root.
Status check_place(const std::string& there);

}  // namespace hai::cli
