#pragma once
// The questions of PgHistory as SQL. Run on its thread.

#include <vector>

#include "server/control/history_port.h"
#include "server/store/pg_session.h"

namespace hai {

// A condition on a job's name in the words of the index job_by_name: PostgreSQL passes by an index
// of another collation, and would read all jobs of the user.
inline constexpr const char* kBeginOfName = "left(name, 200) COLLATE \"C\" = left($, 200)";

Result<std::vector<Job>> find_jobs(PgSession& session, const JobQuery& query);
Result<Job> find_job(PgSession& session, const JobKey& key);
Result<std::vector<Attempt>> find_attempts(PgSession& session, JobId job);
// The same inside a snapshot of the caller.
std::vector<Attempt> find_attempts_in(PgSession& session, JobId job);
Result<std::vector<Event>> find_events(PgSession& session, const EventQuery& query);
Result<std::vector<NodeStay>> find_node_stays(PgSession& session, NodeId node, int limit);
Result<std::vector<Incident>> find_closed_incidents(PgSession& session, const IncidentQuery& query);

}  // namespace hai
