#pragma once
// Views → JSON of design §10. Field names and words are the contract; `hai … -o json` prints the
// same. Whatever bytes a program said come out as valid UTF-8.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "server/api/advisor.h"
#include "server/api/job_census.h"
#include "server/api/queries.h"

namespace hai {

using Json = nlohmann::ordered_json;

Json to_json(const JobView& view);
Json to_json(const AttemptView& view);
Json to_json(const NodeView& view);
Json to_json(const ClusterSummary& summary);
Json to_json(const CensusView& census);
Json to_json(const Token& token);
Json to_json(const IncidentView& view);
Json to_json(const EventView& view);
Json to_json(const QuotaView& view);
Json to_json(const User& user);
Json to_json(const WhoAmIView& view);
Json to_json(const WhyView& view);
Json to_json(const WhatIfView& view);

// With a line end.
std::string to_text(const Json& json);

}  // namespace hai
