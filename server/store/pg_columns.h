#pragma once
// The columns of every table, each once: its name, its type, and the value it holds. Writing a row,
// reading it and comparing it are visitors of these lists (pg_row_writer.h, pg_rows.h). A visitor
// has
//
//   visit(column, member)              what the row keeps
//   visit.json(column, member, parse)  the same as JSON
//   visit.text(column, make, take)     a text made of several members, and taken apart again
//   visit.copy(column, make)           for searches only: repeats what another column has
//
// Text is stored cleaned (json_text.h). schemas/sql makes the tables.

#include <string>
#include <vector>

#include "server/model/cluster_state.h"
#include "server/store/json_codec.h"
#include "server/store/pg_table.h"

namespace hai {

// job/17, node/3, user/ann, …; "" for what concerns the whole cluster.
std::string row_subject(const EventBody& body);
std::string row_subject(JobId job);
std::string row_subject(NodeId node);

// Rows that are not one value of the model. `Job` and so on are values when a row is read, and
// references when it is written.
template <typename Job>
struct JobRowOf {
  Job job;
  int attempt = 0;  // the number of its latest, 0 = none
};
template <typename Attempt>
struct AttemptRowOf {
  JobId job;
  Attempt attempt;  // without its ranks
};
template <typename Rank>
struct RankRowOf {
  JobId job;
  int attempt = 0;
  int number = 0;
  Rank rank;
};

// A column written when the row is made, never after.
constexpr PgColumn fixed(const char* name, const char* type) { return {name, type, true}; }

// Of each: the table, its alias in joins, and how many of the first columns are the primary key.
template <typename Row>
struct PgColumns;

template <>
struct PgColumns<Event> {
  static constexpr PgTableNames kTable{"event", "", 1};

  template <typename Self, typename Visit>
  static void fields(Self& event, Visit&& visit) {
    std::string kind;
    visit({"seq", "bigint"}, event.seq);
    visit({"time", "timestamptz"}, event.time);
    visit({"actor", "text"}, event.actor);
    visit.text(
        {"kind", "text"}, [&] { return std::string(kind_of(event.body)); },
        [&](auto text) { return kind = text, ok(); });
    visit.copy({"subject", "text"}, [&] { return row_subject(event.body); });
    visit.text(
        {"body", "jsonb"}, [&] { return to_json(event.body); },
        [&](auto text) {
          auto body = event_body_from_json(kind, text);
          if (body.is_ok()) event.body = std::move(body).value();
          return body.status();
        });
  }
};

template <typename J>
struct PgColumns<JobRowOf<J>> {
  static constexpr PgTableNames kTable{"job", "", 1};

  template <typename Self, typename Visit>
  static void fields(Self& row, Visit&& visit) {
    auto& job = row.job;
    visit({"id", "bigint"}, job.id);
    visit.copy(fixed("name", "text"), [&] { return job.spec->name; });
    visit(fixed("user_name", "text"), job.user);
    visit.copy(fixed("group_name", "text"), [&] { return job.spec->group; });
    visit({"priority", "text"}, job.priority);
    visit({"state", "text"}, job.state);
    visit({"held", "boolean"}, job.held);
    visit({"hold_reason", "text"}, job.hold_reason);
    visit({"stop_requested", "boolean"}, job.stop_requested);
    visit.copy(fixed("node_count", "integer"), [&] { return job.spec->node_count; });
    visit.copy(fixed("gpus_per_node", "integer"), [&] { return job.spec->gpus_per_node; });
    visit.copy(fixed("tags", "text[]"), [&] { return job.spec->tags; });
    visit(fixed("request_id", "text"), job.request_id);
    visit(fixed("submitted_at", "timestamptz"), job.submitted_at);
    visit({"started_at", "timestamptz"}, job.started_at);
    visit({"ended_at", "timestamptz"}, job.ended_at);
    visit({"attempt", "integer"}, row.attempt);
    visit({"exit_code", "integer"}, job.exit_code);
    visit({"end_reason", "text"}, job.end_reason);
    visit({"suspend_count", "integer"}, job.counters.suspend_count);
    visit({"requeue_count", "integer"}, job.counters.requeue_count);
    visit({"launch_failures", "integer"}, job.launch_failures);
    visit({"failure_restarts", "integer"}, job.failure_restarts);
    visit({"lost_gpu_seconds", "bigint"}, job.counters.lost_gpu_seconds);
    visit.json(fixed("spec", "json"), job.spec, job_spec_from_json);
    visit.text(
        {"rest", "json"}, [&] { return job_rest_to_json(job); },
        [&](auto text) { return job_rest_from_json(text, job); });
  }
};

template <typename A>
struct PgColumns<AttemptRowOf<A>> {
  static constexpr PgTableNames kTable{"attempt", "a", 2};

  template <typename Self, typename Visit>
  static void fields(Self& row, Visit&& visit) {
    auto& attempt = row.attempt;
    visit({"job", "bigint"}, row.job);
    visit({"number", "integer"}, attempt.number);
    visit({"state", "text"}, attempt.state);
    visit({"priority", "text"}, attempt.priority);
    visit({"master_port", "integer"}, attempt.master_port);
    visit({"exclusive", "boolean"}, attempt.exclusive);
    visit({"jumper", "boolean"}, attempt.jumper);
    visit({"placed_at", "timestamptz"}, attempt.placed_at);
    visit({"running_at", "timestamptz"}, attempt.running_at);
    visit({"ended_at", "timestamptz"}, attempt.ended_at);
    visit({"suspend_deadline", "timestamptz"}, attempt.suspend_deadline);
    visit({"suspended_for", "bigint"}, attempt.suspended_for);
    visit({"suspend_reason", "text"}, attempt.suspend_reason);
    visit.json({"ending", "json"}, attempt.end, attempt_end_from_json);
  }
};

template <typename R>
struct PgColumns<RankRowOf<R>> {
  static constexpr PgTableNames kTable{"rank", "r", 3};

  template <typename Self, typename Visit>
  static void fields(Self& row, Visit&& visit) {
    auto& rank = row.rank;
    visit({"job", "bigint"}, row.job);
    visit({"attempt", "integer"}, row.attempt);
    visit({"rank", "integer"}, row.number);
    visit(fixed("node", "bigint"), rank.place.node);
    visit(fixed("gpus", "text"), rank.place.gpus);
    visit({"state", "text"}, rank.state);
    visit({"cause", "text"}, rank.cause);
    visit({"exit_code", "integer"}, rank.exit_code);
    visit({"message", "text"}, rank.message);
  }
};

template <>
struct PgColumns<Node> {
  static constexpr PgTableNames kTable{"node", "", 1};

  template <typename Self, typename Visit>
  static void fields(Self& node, Visit&& visit) {
    visit({"id", "bigint"}, node.id);
    visit.copy({"name", "text"}, [&] { return node.facts.name; });
    visit.copy({"group_name", "text"}, [&] { return node.facts.group; });
    visit.copy({"zone", "text"}, [&] { return node.facts.zone; });
    visit.copy({"leaf", "text"}, [&] { return node.facts.leaf; });
    visit({"liveness", "text"}, node.liveness);
    visit({"liveness_reason", "text"}, node.liveness_reason);
    visit({"scheduling", "text"}, node.scheduling);
    visit({"scheduling_reason", "text"}, node.scheduling_reason);
    visit({"scheduling_by", "text"}, node.scheduling_by);
    visit({"drain_at", "timestamptz"}, node.drain_at);
    visit({"removed_at", "timestamptz"}, node.removed_at);
    visit.json({"facts", "json"}, node.facts, node_facts_from_json);
    visit.json({"told", "json"}, node.told, node_position_from_json);
    visit.json({"set", "json"}, node.set, node_settings_from_json);
    visit.json({"peers", "json"}, node.peers, node_peers_from_json);
    visit.json({"health", "json"}, node.health, node_health_from_json);
  }
};

template <>
struct PgColumns<User> {
  static constexpr PgTableNames kTable{"app_user", "", 1};

  template <typename Self, typename Visit>
  static void fields(Self& user, Visit&& visit) {
    visit({"name", "text"}, user.name);
    visit({"role", "text"}, user.role);
    visit({"active", "boolean"}, user.active);
    visit({"groups", "text[]"}, user.groups);
    visit({"usage_gpu_seconds", "bigint"}, user.usage.gpu_seconds);
    visit({"usage_at", "timestamptz"}, user.usage.at);
  }
};

template <>
struct PgColumns<Quota> {
  static constexpr PgTableNames kTable{"quota", "", 3};

  template <typename Self, typename Visit>
  static void fields(Self& quota, Visit&& visit) {
    visit({"owner", "text"}, quota.owner);
    visit({"group_name", "text"}, quota.group);
    visit({"priority", "text"}, quota.priority);
    visit({"nodes", "bigint"}, quota.nodes);
  }
};

template <>
struct PgColumns<Token> {
  static constexpr PgTableNames kTable{"token", "", 1};

  template <typename Self, typename Visit>
  static void fields(Self& token, Visit&& visit) {
    visit({"hash", "text"}, token.hash);
    visit({"user_name", "text"}, token.user);
    visit({"label", "text"}, token.label);
    visit({"created_at", "timestamptz"}, token.created_at);
    visit({"kind", "text"}, token.kind);
    visit({"scope", "text"}, token.scope);
    visit({"expires_at", "timestamptz"}, token.expires_at);
    visit({"last_used_at", "timestamptz"}, token.last_used_at);
    visit({"nodes", "text"}, token.nodes);
    visit({"uses_left", "integer"}, token.uses_left);
  }
};

template <>
struct PgColumns<Secret> {
  static constexpr PgTableNames kTable{"secret", "", 2};

  template <typename Self, typename Visit>
  static void fields(Self& secret, Visit&& visit) {
    visit({"user_name", "text"}, secret.user);
    visit({"name", "text"}, secret.name);
    visit({"sealed", "text"}, secret.sealed);
    visit({"set_at", "timestamptz"}, secret.set_at);
    visit({"version", "integer"}, secret.version);
  }
};

template <>
struct PgColumns<KnobSetting> {
  static constexpr PgTableNames kTable{"knob", "", 1};

  template <typename Self, typename Visit>
  static void fields(Self& knob, Visit&& visit) {
    visit({"name", "text"}, knob.name);
    visit({"value", "text"}, knob.value);
    visit({"set_by", "text"}, knob.by);
    visit({"reason", "text"}, knob.reason);
    visit({"set_at", "timestamptz"}, knob.set_at);
  }
};

template <>
struct PgColumns<NodeIdentity> {
  static constexpr PgTableNames kTable{"node_identity", "", 1};

  template <typename Self, typename Visit>
  static void fields(Self& identity, Visit&& visit) {
    visit({"node", "text"}, identity.node);
    visit({"serial", "text"}, identity.serial);
    visit({"issued_at", "timestamptz"}, identity.issued_at);
    visit({"expires_at", "timestamptz"}, identity.expires_at);
    visit({"revoked_at", "timestamptz"}, identity.revoked_at);
    visit({"joined_with", "text"}, identity.joined_with);
  }
};

template <>
struct PgColumns<Incident> {
  static constexpr PgTableNames kTable{"incident", "", 1};

  template <typename Self, typename Visit>
  static void fields(Self& incident, Visit&& visit) {
    visit({"id", "bigint"}, incident.id);
    visit({"kind", "text"}, incident.kind);
    visit({"subject", "text"}, incident.subject);
    visit({"summary", "text"}, incident.summary);
    visit({"opened_at", "timestamptz"}, incident.opened_at);
    visit({"closed_at", "timestamptz"}, incident.closed_at);
    visit.text(
        {"body", "jsonb"}, [&] { return incident_rest_to_json(incident); },
        [&](auto text) { return incident_rest_from_json(text, incident); });
  }
};

}  // namespace hai
