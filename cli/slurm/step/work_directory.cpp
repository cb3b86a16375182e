#include "cli/slurm/step/work_directory.h"

#include <fmt/core.h>
#include <stdlib.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace hai::cli::slurm {
namespace {

namespace fs = std::filesystem;

// A socket's path has a limit.
constexpr size_t kParentBytesMax = sizeof(sockaddr_un::sun_path) - 40;

}  // namespace

Result<WorkDirectory> WorkDirectory::make(const EnvironmentMap& environment,
                                          const std::vector<std::string_view>& commands) {
  const auto found = environment.find("TMPDIR");
  std::string parent = found == environment.end() ? "" : found->second;
  if (parent.empty() || parent.size() > kParentBytesMax) parent = "/tmp";
  std::string path = parent + "/hai-slurm-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return unavailable("{}: {}", path, std::strerror(errno));
  }
  WorkDirectory directory(path);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::create_directory(directory.bin(), error);
  for (const std::string_view name : commands) {
    fs::create_symlink(program, fmt::format("{}/{}", directory.bin(), name), error);
  }
  if (error) return unavailable("{}: {}", directory.bin(), error.message());
  return directory;
}

WorkDirectory::~WorkDirectory() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

std::string path_with_bin(const std::string& path, const std::string& bin,
                          const std::string& other_bin) {
  std::string rest = path;
  const std::string other = other_bin + ":";
  if (!other_bin.empty() && rest.starts_with(other)) rest.erase(0, other.size());
  if (rest.empty()) rest = "/usr/local/bin:/usr/bin:/bin";
  return rest.starts_with(bin + ":") ? rest : bin + ":" + rest;
}

}  // namespace hai::cli::slurm
