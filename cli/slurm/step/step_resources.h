#pragma once
// Which GPUs and CPUs of the job's nodes are taken by steps, and which a new step gets. A step that
// asks for GPUs has them for itself; one that says nothing about them sees all and counts for
// nothing. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/map_job.h"
#include "cli/slurm/step/step.h"
#include "common/status.h"

namespace hai::cli::slurm {

// What a rank of the job has: "0,1,2,3" of CUDA_VISIBLE_DEVICES, and CPUs; 0 = it does not know.
struct RankResources {
  std::vector<std::string> gpus;
  int cpus = 0;
  bool operator==(const RankResources&) const = default;
};
// From the variables of the rank.
RankResources resources_of(const EnvironmentMap& rank);
std::string encode_resources(const RankResources& resources);
Result<RankResources> decode_resources(std::string_view body);

class StepResources {
 public:
  // Of so many ranks, none of which has said yet what it has.
  explicit StepResources(size_t ranks) : ranks_(ranks) {}
  void announce(size_t rank, const RankResources& resources);

  // The launches of a step, whose GPUs and CPUs are taken from now on until `release`. Nothing: it
  // has to wait until others have ended. An error: it can never be.
  Result<std::optional<std::vector<RankLaunch>>> place(uint32_t step, const StepRequest& request,
                                                       const JobPlan& job,
                                                       const std::vector<std::string>& names);
  void release(uint32_t step);

  // What a part of a step takes of its node.
  struct Need {
    int gpus = 0;
    int cpus = 0;
  };

 private:
  enum class Room { never, later, now };
  struct Rank {
    std::optional<RankResources> all;
    std::vector<std::optional<uint32_t>> gpu_steps;  // by GPU: whose it is
    std::vector<std::pair<uint32_t, int>> cpus;      // step, how many
  };
  struct Choice {  // by node of the step
    std::vector<int> ranks;
    std::vector<Need> needs;
  };
  static Room room_on(const Rank& rank, const Need& need, bool is_shared);
  // For each node of the step the first of the job's nodes with room; nothing: not now.
  Result<std::optional<Choice>> choose(const StepRequest& request, const JobPlan& job,
                                       const StepShape& shape,
                                       const std::vector<std::string>& names) const;
  // The GPUs, as CUDA_VISIBLE_DEVICES has them.
  static std::string take(Rank& rank, uint32_t step, const Need& need, bool is_shared);

  std::vector<Rank> ranks_;
};

}  // namespace hai::cli::slurm
