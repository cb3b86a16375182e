#pragma once
// The container image of a job or a step, as pyxis's options name it. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/parse_options.h"
#include "common/status.h"

namespace hai::cli::slurm {

struct Container {
  std::string image;                // as common/image.h reads it; "" = none was named
  std::vector<std::string> mounts;  // "FROM[:TO][:ro]", of all options that name some
  std::string directory;            // in the image; "" = not said
};

// --container-image, --container-mounts and --container-workdir. `here`: the present directory,
// from which mounts like ./data are meant.
Result<Container> container_of(const ParsedWords& words, const std::string& here);

// "[REGISTRY#]NAME[:TAG]" of enroot, or one of hai's own names, as one of hai's own.
Result<std::string> parse_container_image(std::string_view text);

// The command, begun in that directory of the image; "" = where it begins anyway.
std::vector<std::string> begun_in(const std::string& directory, std::vector<std::string> command);

// Whether a step may ask for it: an image is a job's, for all its steps. `job`: the image and the
// mounts of the job.
Status check_container_of_step(const ParsedWords& words, const Container& step,
                               const Container& job);

}  // namespace hai::cli::slurm
