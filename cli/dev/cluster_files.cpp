#include "cli/dev/cluster_files.h"

#include <unistd.h>

#include <cstdlib>

#include "cli/context_config.h"

namespace hai::cli {

std::string default_data_directory(const std::string& name) {
  const char* xdg = std::getenv("XDG_DATA_HOME");
  if (xdg != nullptr && *xdg == '/') return std::string(xdg) + "/hai/dev/" + name;
  if (geteuid() == 0) return "/var/lib/hai/dev/" + name;
  return home_directory() + "/.local/share/hai/dev/" + name;
}

}  // namespace hai::cli
