#include "common/machine/sdk_path.h"

#include <filesystem>

namespace hai {

std::string default_python_dir() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return "";
  const auto has_sdk = [&](const fs::path& dir) {
    return fs::exists(dir / "hai" / "__init__.py", error);
  };
  const fs::path installed = self.parent_path().parent_path() / "share" / "hai" / "python";
  if (has_sdk(installed)) return installed.string();
  constexpr int kLevels = 4;  // build/PRESET/bin is three below the tree's root
  fs::path tree = self.parent_path();
  for (int level = 0; level < kLevels && tree.has_relative_path(); ++level) {
    tree = tree.parent_path();
    if (has_sdk(tree / "sdk" / "python")) return (tree / "sdk" / "python").string();
  }
  return "";
}

}  // namespace hai
