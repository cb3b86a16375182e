#pragma once
// All stored fields of a job, for digests and for archives.

#include "server/model/fields.h"
#include "server/model/job.h"

namespace hai {

template <>
struct ExternalFields<Job> {
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    // Names all members, so that one that is added and not listed below is an error here.
    auto& [id, user, request_id, spec, priority, state, held, hold_reason, stop_requested,
           submitted_at, waiting_since, custom_rank, started_at, ended_at, unmet_dependencies,
           failed_dependency, attempt, reservation, checkpoint, checkpoint_gap, whole_life_state,
           avoid, exit_code, end_reason, counters, vain_requeues, launch_failures, failure_restarts,
           gpu_seconds, uses_sdk, rerun_of, array_task, array, skipped_to, early_failures] = self;
    visit("id", id);
    visit("user", user);
    visit("request_id", request_id);
    visit("spec", spec);
    visit("priority", priority);
    visit("state", state);
    visit("held", held);
    visit("hold_reason", hold_reason);
    visit("stop_requested", stop_requested);
    visit("submitted_at", submitted_at);
    visit("waiting_since", waiting_since);
    visit("custom_rank", custom_rank);
    visit("started_at", started_at);
    visit("ended_at", ended_at);
    visit("unmet_dependencies", unmet_dependencies);
    visit("failed_dependency", failed_dependency);
    visit("attempt", attempt);
    visit("reservation", reservation);
    visit("checkpoint", checkpoint);
    visit("checkpoint_gap", checkpoint_gap);
    visit("whole_life_state", whole_life_state);
    visit("avoid", avoid);
    visit("exit_code", exit_code);
    visit("end_reason", end_reason);
    JobCounters::fields(counters, visit);
    visit("vain_requeues", vain_requeues);
    visit("launch_failures", launch_failures);
    visit("failure_restarts", failure_restarts);
    visit("gpu_seconds", gpu_seconds);
    visit("uses_sdk", uses_sdk);
    visit("rerun_of", rerun_of);
    visit("array_task", array_task);
    visit("array", array);
    visit("skipped_to", skipped_to);
    visit("early_failures", early_failures);
  }
};

}  // namespace hai
