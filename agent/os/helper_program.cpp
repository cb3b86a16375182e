#include "agent/os/helper_program.h"

#include <filesystem>

namespace hai {

std::string helper_program(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path installed = folder.parent_path() / "libexec" / "hai" / name;
  return (fs::exists(installed, error) ? installed : folder / name).string();
}

}  // namespace hai
