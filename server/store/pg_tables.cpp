#include "server/store/pg_tables.h"

#include "server/store/json_codec.h"
#include "server/store/pg_rows.h"

namespace hai {
namespace {

// A column's name, type and value; `v` is the row.
#define COLUMN(Row, name, type, value)                                   \
  {                                                                      \
    {name, type}, [](PgArray& array, const Row& v) { array.add(value); } \
  }
#define FIXED(Row, name, type, value)                                          \
  {                                                                            \
    {name, type, true}, [](PgArray& array, const Row& v) { array.add(value); } \
  }

std::string text_array(const std::vector<std::string>& texts) {
  PgArray array;
  for (const std::string& text : texts) array.add(text);
  return array.take();
}

std::optional<std::string> ending_json(const Attempt& attempt) {
  if (!attempt.end) return std::nullopt;
  return to_json(*attempt.end);
}

}  // namespace

const PgTable<EventRow>& event_table() {
  static const PgTable<EventRow> table{
      "event",
      1,
      {COLUMN(EventRow, "seq", "bigint", v->seq), COLUMN(EventRow, "time", "timestamptz", v->time),
       COLUMN(EventRow, "actor", "text", v->actor),
       COLUMN(EventRow, "kind", "text", kind_of(v->body)),
       COLUMN(EventRow, "subject", "text", row_subject(v->body)),
       COLUMN(EventRow, "body", "jsonb", to_json(v->body))}};
  return table;
}

const PgTable<JobRow>& job_table() {
  static const PgTable<JobRow> table{
      "job",
      1,
      {COLUMN(JobRow, "id", "bigint", v->id),
       FIXED(JobRow, "name", "text", v->spec->name),
       FIXED(JobRow, "user_name", "text", v->user),
       FIXED(JobRow, "group_name", "text", v->spec->group),
       COLUMN(JobRow, "priority", "text", v->priority),
       COLUMN(JobRow, "state", "text", v->state),
       COLUMN(JobRow, "held", "boolean", v->held),
       COLUMN(JobRow, "hold_reason", "text", v->hold_reason),
       COLUMN(JobRow, "stop_requested", "boolean", v->stop_requested),
       FIXED(JobRow, "node_count", "integer", v->spec->node_count),
       FIXED(JobRow, "gpus_per_node", "integer", v->spec->gpus_per_node),
       FIXED(JobRow, "tags", "text[]", text_array(v->spec->tags)),
       FIXED(JobRow, "request_id", "text", v->request_id),
       FIXED(JobRow, "submitted_at", "timestamptz", v->submitted_at),
       COLUMN(JobRow, "started_at", "timestamptz", v->started_at),
       COLUMN(JobRow, "ended_at", "timestamptz", v->ended_at),
       COLUMN(JobRow, "attempt", "integer", v->attempt_number()),
       COLUMN(JobRow, "exit_code", "integer", v->exit_code),
       COLUMN(JobRow, "end_reason", "text", v->end_reason),
       COLUMN(JobRow, "suspend_count", "integer", v->counters.suspend_count),
       COLUMN(JobRow, "requeue_count", "integer", v->counters.requeue_count),
       COLUMN(JobRow, "launch_failures", "integer", v->launch_failures),
       COLUMN(JobRow, "failure_restarts", "integer", v->failure_restarts),
       COLUMN(JobRow, "lost_gpu_seconds", "bigint", v->counters.lost_gpu_seconds),
       FIXED(JobRow, "spec", "json", to_json(*v->spec)),
       COLUMN(JobRow, "rest", "json", job_rest_to_json(*v))}};
  return table;
}

const PgTable<AttemptRow>& attempt_table() {
  static const PgTable<AttemptRow> table{
      "attempt",
      2,
      {COLUMN(AttemptRow, "job", "bigint", v.job),
       COLUMN(AttemptRow, "number", "integer", v.attempt->number),
       COLUMN(AttemptRow, "state", "text", v.attempt->state),
       COLUMN(AttemptRow, "priority", "text", v.attempt->priority),
       COLUMN(AttemptRow, "master_port", "integer", v.attempt->master_port),
       COLUMN(AttemptRow, "exclusive", "boolean", v.attempt->exclusive),
       COLUMN(AttemptRow, "jumper", "boolean", v.attempt->jumper),
       COLUMN(AttemptRow, "placed_at", "timestamptz", v.attempt->placed_at),
       COLUMN(AttemptRow, "running_at", "timestamptz", v.attempt->running_at),
       COLUMN(AttemptRow, "ended_at", "timestamptz", v.attempt->ended_at),
       COLUMN(AttemptRow, "suspend_deadline", "timestamptz", v.attempt->suspend_deadline),
       COLUMN(AttemptRow, "suspended_for", "bigint", v.attempt->suspended_for),
       COLUMN(AttemptRow, "suspend_reason", "text", v.attempt->suspend_reason),
       COLUMN(AttemptRow, "ending", "json", ending_json(*v.attempt))}};
  return table;
}

const PgTable<RankOfAttempt>& rank_table() {
  static const PgTable<RankOfAttempt> table{
      "rank",
      3,
      {COLUMN(RankOfAttempt, "job", "bigint", v.job),
       COLUMN(RankOfAttempt, "attempt", "integer", v.attempt),
       COLUMN(RankOfAttempt, "rank", "integer", v.number),
       FIXED(RankOfAttempt, "node", "bigint", v.rank->place.node),
       FIXED(RankOfAttempt, "gpus", "text", to_string(v.rank->place.gpus)),
       COLUMN(RankOfAttempt, "state", "text", v.rank->state),
       COLUMN(RankOfAttempt, "cause", "text", v.rank->cause),
       COLUMN(RankOfAttempt, "exit_code", "integer", v.rank->exit_code),
       COLUMN(RankOfAttempt, "message", "text", v.rank->message)}};
  return table;
}

const PgTable<Node>& node_table() {
  static const PgTable<Node> table{
      "node",
      1,
      {COLUMN(Node, "id", "bigint", v.id), COLUMN(Node, "name", "text", v.facts.name),
       COLUMN(Node, "group_name", "text", v.facts.group),
       COLUMN(Node, "zone", "text", v.facts.zone), COLUMN(Node, "leaf", "text", v.facts.leaf),
       COLUMN(Node, "liveness", "text", v.liveness),
       COLUMN(Node, "liveness_reason", "text", v.liveness_reason),
       COLUMN(Node, "scheduling", "text", v.scheduling),
       COLUMN(Node, "scheduling_reason", "text", v.scheduling_reason),
       COLUMN(Node, "scheduling_by", "text", v.scheduling_by),
       COLUMN(Node, "drain_at", "timestamptz", v.drain_at),
       COLUMN(Node, "facts", "json", to_json(v.facts)),
       COLUMN(Node, "peers", "json", to_json(v.peers)),
       COLUMN(Node, "health", "json", to_json(v.health))}};
  return table;
}

const PgTable<User>& user_table() {
  static const PgTable<User> table{
      "app_user",
      1,
      {COLUMN(User, "name", "text", v.name), COLUMN(User, "role", "text", v.role),
       COLUMN(User, "active", "boolean", v.active),
       COLUMN(User, "groups", "text[]", text_array(v.groups)),
       COLUMN(User, "usage_gpu_seconds", "bigint", v.usage.gpu_seconds),
       COLUMN(User, "usage_at", "timestamptz", v.usage.at)}};
  return table;
}

const PgTable<Quota>& quota_table() {
  static const PgTable<Quota> table{
      "quota",
      3,
      {COLUMN(Quota, "owner", "text", v.owner), COLUMN(Quota, "group_name", "text", v.group),
       COLUMN(Quota, "priority", "text", v.priority), COLUMN(Quota, "nodes", "bigint", v.nodes)}};
  return table;
}

const PgTable<Token>& token_table() {
  static const PgTable<Token> table{
      "token",
      1,
      {COLUMN(Token, "hash", "text", v.hash), COLUMN(Token, "user_name", "text", v.user),
       COLUMN(Token, "label", "text", v.label),
       COLUMN(Token, "created_at", "timestamptz", v.created_at)}};
  return table;
}

const PgTable<Incident>& incident_table() {
  static const PgTable<Incident> table{
      "incident",
      1,
      {COLUMN(Incident, "id", "bigint", v.id), COLUMN(Incident, "kind", "text", v.kind),
       COLUMN(Incident, "subject", "text", v.subject),
       COLUMN(Incident, "summary", "text", v.summary),
       COLUMN(Incident, "opened_at", "timestamptz", v.opened_at),
       COLUMN(Incident, "closed_at", "timestamptz", v.closed_at),
       COLUMN(Incident, "body", "jsonb", incident_rest_to_json(v))}};
  return table;
}

}  // namespace hai
