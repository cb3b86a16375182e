#pragma once
// Environments that a job file marks as secret: sealed at the submit, with the key of secrets and
// for this user and variable only, and opened when an order leaves for the node that launches. In
// between the job has the sealed text, so that its row, its events, its file that is shown and what
// is run again from it have no other, and nothing needs to be deleted after it.

#include <string>

#include "common/agent_messages.h"
#include "common/job_spec.h"
#include "common/status.h"
#include "server/auth/seal.h"
#include "server/control/engine/controller.h"

namespace hai {

// What the caller submits, at once where nothing is to be sealed. On the loop's thread.
Status seal_for(Controller& controller, const Caller& caller, const Sealer* sealer,
                const std::string& request_id, JobSpec& spec);
// `known` is the job of the same request, null if there is none: what is equal there stays as it
// was sealed then, so that a repeated request is the same one. failed_precondition without a
// sealer.
Status seal_environments(const Sealer* sealer, const std::string& user, const JobSpec* known,
                         JobSpec& spec);

// Whether it has something sealed, of environments or secrets.
bool has_sealed(const LaunchRank& order);
// The values of what is sealed in its environments, or the reason why one does not open.
Status open_environments(const Sealer* sealer, LaunchRank& order);

}  // namespace hai
