#pragma once

#include <string>
#include <vector>

#include "common/doctor/finding.h"
#include "common/time.h"

namespace hai {

// What a doctor asks of a database.
struct DatabaseHealth {
  int server_version = 0;  // as PostgreSQL counts: 150'004 is 15.4
  int64_t schema = 0;
  bool is_replica = false;
  bool is_read_only = false;
  int64_t replicas = 0;     // that stream from it
  Duration clock_ahead{0};  // this machine's clock, less the database's
};
// `where` is its conninfo, as it may be shown. Pure.
std::vector<Finding> judge_database_health(const std::string& where, const DatabaseHealth& health);

// Whether the way to it is safe. Pure.
Finding judge_transport(const std::string& conninfo);

// Connects; waits some seconds at most.
// `cluster_id`: of the cluster that it must be of; "" = not known.
std::vector<Finding> look_at_database_health(const std::string& conninfo,
                                             const std::string& cluster_id = {});

}  // namespace hai
