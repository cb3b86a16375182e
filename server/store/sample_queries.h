#pragma once
// The table cluster_sample. Run on PgHistory's thread.

#include <vector>

#include "server/control/sample_port.h"
#include "server/store/pg_session.h"

namespace hai {

void save_sample(PgSession& session, const ClusterSample& sample, Duration keep);
std::vector<ClusterSample> find_samples(PgSession& session, UnixTime since, Duration step);

}  // namespace hai
