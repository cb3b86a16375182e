#include "cli/slurm/surroundings.h"

#include <unistd.h>

#include <climits>
#include <filesystem>

#include "cli/slurm/step/task_environment.h"

namespace hai::cli::slurm {

namespace fs = std::filesystem;

// In a build folder beside hai-slurm; an installation has it where it keeps what no person calls
// (agent/os/helper_program.h). Not asked of the file system alone: a login node may lack it.
static std::string runner_in_image(const fs::path& runner) {
  std::error_code error;
  const fs::path folder = runner.parent_path();
  const fs::path beside = folder / kInImageFolder / "hai-slurm";
  if (fs::exists(beside, error)) return beside.string();
  return (folder.parent_path() / "libexec" / "hai" / kInImageFolder / "hai-slurm").string();
}

Result<Surroundings> surroundings(UnixTime now) {
  Surroundings here;
  std::error_code error;
  here.directory = fs::current_path(error).string();
  if (error) return failed_precondition("the current directory is gone");
  here.runner = fs::read_symlink("/proc/self/exe", error).string();
  if (error) return failed_precondition("/proc/self/exe: {}", error.message());
  here.runner_in_image = runner_in_image(here.runner);
  char host[HOST_NAME_MAX + 1] = {};
  ::gethostname(host, sizeof host - 1);
  here.host = host;
  std::vector<std::string> texts;
  for (char** text = ::environ; *text != nullptr; ++text) texts.emplace_back(*text);
  here.environment = map_of(texts);
  here.now = now;
  return here;
}

}  // namespace hai::cli::slurm
