#pragma once
// What a rank of a job needs on its node for as long as it runs: a folder of its own with Slurm's
// commands in bin/, which script and tasks find first in PATH.

#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/map_job.h"

namespace hai::cli::slurm {

inline constexpr const char* kBinVariable = "HAI_SLURM_BIN";

class WorkDirectory {
 public:
  // Below TMPDIR, where hai cleans up after a rank that was killed.
  // `commands`: names under which script and tasks find this program.
  static Result<WorkDirectory> make(const EnvironmentMap& environment,
                                    const std::vector<std::string_view>& commands);
  ~WorkDirectory();
  WorkDirectory(WorkDirectory&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  WorkDirectory& operator=(WorkDirectory&&) = delete;

  std::string socket() const { return path_ + "/srun"; }
  std::string script() const { return path_ + "/script"; }
  std::string bin() const { return path_ + "/bin"; }

 private:
  explicit WorkDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// `path` with `bin` in front, and without what stood there for another node.
std::string path_with_bin(const std::string& path, const std::string& bin,
                          const std::string& other_bin);

}  // namespace hai::cli::slurm
