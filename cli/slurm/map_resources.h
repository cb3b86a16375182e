#pragma once
// Nodes, tasks, GPUs, CPUs and memory: the part of map_job where options depend on each other.

#include "cli/slurm/map_job.h"

namespace hai::cli::slurm {

Status set_resources(const ParsedWords& words, MappedJob& job);

// "64G", "1500" (MiB), "0" = in proportion to the GPUs.
Result<int64_t> parse_memory(const GivenOption& given);
// "gpu:8", "gpu:h100:8", "gpu" = 1; "h100:8" and "8" for the options that are only about GPUs.
struct GpusAsked {
  int count = 0;
  std::string type;  // "" = any
};
Result<GpusAsked> parse_gpus(const GivenOption& given);

}  // namespace hai::cli::slurm
