#pragma once
// Random clusters with running, waiting, leaving and reserved jobs, made by real events and real
// passes.

#include <functional>

#include "common/rng.h"
#include "tests/support/builders.h"

namespace hai::test {

struct RandomWorldOptions {
  int nodes_max = 12;
  int jobs_max = 24;
  bool quotas = true;
  bool shares = true;
  bool zones = true;
  // Jobs of one level take turns: policy, quanta and the other knobs of it are drawn, and attempts
  // are charged to their users.
  bool turns = false;
  // Jobs ask for CPUs and memory, some for no GPUs, and some nodes have none.
  bool filters = false;  // jobs ask for some nodes only
  bool host = false;
  std::function<void(Cluster&)> after_step = nullptr;
};

// A cluster some way into its life: jobs come, run, report checkpoints, leave; nodes come and go.
Cluster random_cluster(uint64_t seed, const RandomWorldOptions& options = {});

// Everything a plan says.
std::string text_of(const Plan& plan);

JobBuilder random_job(Rng& rng, const std::string& name, int nodes, bool shares);

}  // namespace hai::test
