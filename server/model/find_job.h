#pragma once
// The job that a person means.

#include <string>

#include "server/model/cluster_state.h"

namespace hai {

// By its id; "17_3" is task 3 of array 17, or else an unfinished job of the user's that is called
// so; any other text is the name of an unfinished job of the user's. Null if there is none in
// memory. Does not ask whether the user may see it.
const Job* find_job(const ClusterState& state, const std::string& user, const std::string& text);

// As people name it, so that it is found by it: "17_3" for a task, else the id.
std::string shown_id(const Job& job);
// Of one that may have left memory: then the id.
std::string shown_id(const ClusterState& state, JobId job);

}  // namespace hai
