#pragma once
// First come, first served with EASY backfill, as a baseline. The oldest waiting job that does not
// fit now gets a reservation for the moment at which it will, as soon as enough of the running jobs
// have ended; later jobs may start if they end before that moment or leave its nodes alone. Nobody
// is interrupted. Nodes are taken first fit, without regard to the network.
//
// Generous to it: run times are the true ones, which no user knows; the whole queue is looked at;
// and the reservation keeps as few of the nodes that are free now as possible.

#include <functional>
#include <memory>

#include "server/plan/planner.h"

namespace hai {

// How long a job takes from its placement to its end if nothing breaks.
using TimeLeft = std::function<Duration(const Job&)>;

std::unique_ptr<Planner> make_easy_planner(TimeLeft time_left);

}  // namespace hai
