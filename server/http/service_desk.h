#pragma once
// The port for the services of jobs: an origin of its own for browsers, so that a page that a job
// shows cannot do what the dashboard can. Only a job's owner gets to its services.

#include "server/http/routes.h"
#include "server/http/service_gate.h"

namespace hai {

// `parts` outlives what is made.
ServiceGate make_service_gate(const HttpParts& parts);

}  // namespace hai
