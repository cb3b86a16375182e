#pragma once
// What the events since some moment have changed, as it was at that moment. The controller's memory
// runs ahead of the store while an append is under way; if the store goes away meanwhile, nobody
// knows whether that append was written, and only what was there before it may be shown.

#include <map>
#include <optional>
#include <string>

#include "server/model/incident.h"
#include "server/model/job.h"
#include "server/model/node.h"
#include "server/model/user.h"

namespace hai {

struct BeforeImages {
  using QuotaKey = std::tuple<std::string, std::string, Priority>;

  Epoch epoch;
  int64_t last_seq = 0;
  JobId last_job;  // younger ones were not there
  // nullopt = was not there.
  std::map<JobId, Job> jobs;
  std::map<NodeId, std::optional<Node>> nodes;
  std::map<std::string, std::optional<User>> users;
  std::map<QuotaKey, std::optional<Quota>> quotas;
  std::map<std::string, std::optional<Token>> tokens;
  IncidentId last_incident;
  std::map<IncidentId, std::optional<Incident>> incidents;  // open ones
};

}  // namespace hai
