#pragma once
// Events and the parts of rows as JSON and back, by the field lists of the model. Enums are their
// words, ids integers, times RFC 3339 with microseconds, durations integer microseconds under
// NAME_us, GPU sets lists of indices; an empty optional is absent, and so is a spec's field that
// has its default: C++ defaults of JobSpec are part of the format and never change. A field that is
// absent keeps its default, so that old events stay readable when a type grows; unknown fields are
// ignored.

#include <memory>
#include <string>
#include <string_view>

#include "common/status.h"
#include "server/model/event.h"

namespace hai {

std::string to_json(const EventBody& body);
// `invalid_argument` naming the field: unknown kind, bad JSON, or a value of the wrong type.
Result<EventBody> event_body_from_json(std::string_view kind, std::string_view json);

std::string to_json(const JobSpec& spec);
std::string to_json(const Attempt& attempt);
std::string to_json(const NodeFacts& facts);
Result<JobSpec> job_spec_from_json(std::string_view json);
Result<Attempt> attempt_from_json(std::string_view json);
Result<NodeFacts> node_facts_from_json(std::string_view json);

// What an attempt's row keeps besides its columns.
std::string to_json(const AttemptEnd& end);
Result<AttemptEnd> attempt_end_from_json(std::string_view json);

std::string to_json(const NodePosition& position);
Result<NodePosition> node_position_from_json(std::string_view json);
std::string to_json(const NodeSettings& settings);
Result<NodeSettings> node_settings_from_json(std::string_view json);
std::string to_json(const NodePeers& peers);
Result<NodePeers> node_peers_from_json(std::string_view json);

// What an incident's row keeps besides its columns.
std::string to_json(const NodeHealth& health);
Result<NodeHealth> node_health_from_json(std::string_view json);

std::string incident_rest_to_json(const Incident& incident);
Status incident_rest_from_json(std::string_view json, Incident& incident);

// All of a job, with its latest attempt.
std::string whole_job_to_json(const Job& job);
Result<Job> whole_job_from_json(std::string_view json);

// What a job's row keeps besides its columns, its spec and its attempt.
std::string job_rest_to_json(const Job& job);
Status job_rest_from_json(std::string_view json, Job& job);

}  // namespace hai
