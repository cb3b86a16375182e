#pragma once
// What a job that is being submitted waits for.

#include <optional>
#include <string>
#include <vector>

#include "server/control/command.h"
#include "server/model/cluster_state.h"

namespace hai {

// The ids and names in spec.depends_on.
std::vector<std::string> dependency_jobs(const JobSpec& spec);

// Whether it says "singleton": then it may have the name of unfinished jobs, and waits for them.
bool is_singleton(const JobSpec& spec);

// Those that are not met yet, each once. What has left memory is looked for in `history`. The error
// names the one that does not exist, is somebody else's, or can't be met any more. A singleton that
// is `rerun_of` run again does not wait for those of its name that wait for that one: they will
// wait for it.
Result<std::vector<Dependency>> resolve_dependencies(const ClusterState& state,
                                                     const std::string& user, const JobSpec& spec,
                                                     const std::vector<EndedJob>& history,
                                                     std::optional<JobId> rerun_of);

// The tasks of the user's arrays that it waits for and that are not made yet: each once. For these
// resolve_dependencies() names the array; make_task() makes them jobs.
std::vector<ArrayTask> unmade_tasks(const ClusterState& state, const std::string& user,
                                    const JobSpec& spec);

// Those of dependency_jobs() that are not in memory: what the history is to be asked for.
std::vector<std::string> dependencies_not_in_memory(const ClusterState& state,
                                                    const std::string& user, const JobSpec& spec);

}  // namespace hai
