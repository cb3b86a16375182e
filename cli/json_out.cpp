#include "cli/json_out.h"

#include <nlohmann/json.hpp>

#include "common/time.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {
namespace {

Json time_json(int64_t micros) { return format_rfc3339(unix_micros(micros)); }

// For fields that are not optional in the protocol: 0 = not known.
Json time_or_null(int64_t micros) { return micros == 0 ? Json(nullptr) : time_json(micros); }

template <typename Values>
Json list_json(const Values& values) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(value);
  return list;
}

template <typename Messages>
Json objects_json(const Messages& messages) {
  Json list = Json::array();
  for (const auto& message : messages) list.push_back(to_json(message));
  return list;
}

template <typename Map>
Json map_json(const Map& map) {
  Json object = Json::object();
  for (const auto& [key, value] : std::map<std::string, int64_t>(map.begin(), map.end())) {
    object[key] = value;
  }
  return object;
}

Json checkpoint_json(const v1::Checkpoint& checkpoint) {
  return {{"step", checkpoint.step()},
          {"path", checkpoint.path()},
          {"save_seconds", checkpoint.save_seconds()},
          {"at", time_json(checkpoint.at_us())}};
}

Json reason_json(const v1::PendingReason& reason) {
  return {{"code", reason.code()}, {"text", reason.text()}};
}

#define OPTIONAL_JSON(message, field, convert) \
  ((message).has_##field() ? Json(convert((message).field())) : Json(nullptr))

Json job_main_json(const v1::Job& job) {
  return {{"id", job.id()},
          {"name", job.name()},
          {"user", job.user()},
          {"group", job.group()},
          {"priority", job.priority()},
          {"state", job.state()},
          {"held", job.held()},
          {"node_count", job.node_count()},
          {"gpus_per_node", job.gpus_per_node()},
          {"submitted_at", time_json(job.submitted_at_us())},
          {"started_at", OPTIONAL_JSON(job, started_at_us, time_json)},
          {"ended_at", OPTIONAL_JSON(job, ended_at_us, time_json)},
          {"attempt", job.attempt()},
          {"pending_reason", OPTIONAL_JSON(job, pending_reason, reason_json)},
          {"exit_code", OPTIONAL_JSON(job, exit_code, )},
          {"nodes", list_json(job.nodes())},
          {"suspend_count", job.suspend_count()},
          {"requeue_count", job.requeue_count()},
          {"lost_gpu_seconds", job.lost_gpu_seconds()}};
}

Json rank_json(const v1::RankInfo& rank) {
  return {{"rank", rank.rank()},
          {"node", rank.node()},
          {"gpus", list_json(rank.gpus())},
          {"phase", rank.phase()},
          {"cause", rank.cause()},
          {"exit_code", OPTIONAL_JSON(rank, exit_code, )},
          {"started_at", OPTIONAL_JSON(rank, started_at_us, time_json)},
          {"ended_at", OPTIONAL_JSON(rank, ended_at_us, time_json)},
          {"message", rank.message()}};
}

Json string_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json check_json(const v1::NodeCheck& check) {
  return {{"name", check.name()},
          {"subject", check.subject()},
          {"state", check.state()},
          {"tier", check.tier()},
          {"text", check.text()},
          {"evidence", string_or_null(check.evidence())},
          {"done", string_or_null(check.done())},
          {"at", time_or_null(check.at_us())}};
}

}  // namespace

Json to_json(const v1::Job& job) {
  Json out = job_main_json(job);
  out["attempt_state"] = string_or_null(job.attempt_state());
  out["end_reason"] = string_or_null(job.end_reason());
  out["zone"] = string_or_null(job.zone());
  out["tags"] = list_json(job.tags());
  out["checkpoint"] = OPTIONAL_JSON(job, checkpoint, checkpoint_json);
  out["progress_step"] = OPTIONAL_JSON(job, progress_step, );
  out["whole_life_state"] = OPTIONAL_JSON(job, whole_life_state, );
  out["workspace"] = job.workspace();
  out["entrypoint"] = job.entrypoint();
  out["parameters"] = job.parameters();
  return out;
}

Json to_json(const v1::Attempt& attempt) {
  Json ranks = Json::array();
  for (const v1::RankInfo& rank : attempt.ranks()) ranks.push_back(rank_json(rank));
  return {{"job_id", attempt.job_id()},
          {"attempt", attempt.number()},
          {"state", attempt.state()},
          {"placed_at", time_json(attempt.placed_at_us())},
          {"running_at", OPTIONAL_JSON(attempt, running_at_us, time_json)},
          {"ended_at", OPTIONAL_JSON(attempt, ended_at_us, time_json)},
          {"end_reason", string_or_null(attempt.end_reason())},
          {"exit_code", OPTIONAL_JSON(attempt, exit_code, )},
          {"ranks", ranks}};
}

Json to_json(const v1::WhyJobReply& why) {
  Json facts = Json::array();
  for (const v1::BlockingFact& fact : why.facts()) {
    facts.push_back(
        {{"code", fact.code()}, {"text", fact.text()}, {"holders", list_json(fact.holders())}});
  }
  return {{"id", why.job().id()},
          {"name", why.job().name()},
          {"state", why.job().state()},
          {"held", why.job().held()},
          {"pending_reason", why.reason().code().empty() ? Json() : reason_json(why.reason())},
          {"facts", facts},
          {"start_p50", OPTIONAL_JSON(why, start_p50_us, time_json)},
          {"start_p90", OPTIONAL_JSON(why, start_p90_us, time_json)},
          {"estimate_note", string_or_null(why.estimate_note())}};
}

Json to_json(const v1::WhatIfReply& reply) {
  Json differences = Json::array();
  for (const v1::JobDifference& each : reply.differences()) {
    differences.push_back({{"id", each.job_id()},
                           {"name", each.name()},
                           {"user", each.user()},
                           {"priority", each.priority()},
                           {"effect", each.effect()},
                           {"text", each.text()},
                           {"nodes", list_json(each.nodes())},
                           {"nodes_before", list_json(each.nodes_before())}});
  }
  return {{"change", reply.text()},
          {"differences", differences},
          {"differences_left_out", reply.differences_left_out()},
          {"job", reply.has_job() ? to_json(reply.job()) : Json(nullptr)}};
}

Json to_json(const v1::Event& event) {
  Json body = Json::parse(event.body_json(), nullptr, /*allow_exceptions=*/false);
  if (body.is_discarded()) body = Json::object();
  return {{"seq", event.seq()},   {"time", time_json(event.at_us())}, {"actor", event.actor()},
          {"kind", event.kind()}, {"subject", event.subject()},       {"text", event.text()},
          {"body", body}};
}

namespace {

Json repair_json(const v1::NodeRepair& repair) {
  return {{"step", repair.step()},
          {"reason", repair.reason()},
          {"since", time_or_null(repair.since_us())},
          {"round", repair.round()},
          {"job", repair.job() == 0 ? Json() : Json(repair.job())},
          {"incident", repair.incident() == 0 ? Json() : Json(repair.incident())}};
}

}  // namespace

static Json gpu_json(const v1::NodeGpu& gpu) {
  return {
      {"utilization", gpu.has_utilization_percent() ? Json(gpu.utilization_percent()) : Json()},
      {"temperature", gpu.has_temperature_celsius() ? Json(gpu.temperature_celsius()) : Json()}};
}

Json to_json(const v1::Node& node) {
  Json checks = Json::array();
  Json gpu_readings = Json::array();
  for (const v1::NodeGpu& gpu : node.gpu_readings()) gpu_readings.push_back(gpu_json(gpu));
  for (const v1::NodeCheck& check : node.checks()) checks.push_back(check_json(check));
  return {{"name", node.name()},
          {"group", node.group()},
          {"zone", node.zone()},
          {"leaf", node.leaf()},
          {"liveness", node.liveness()},
          {"scheduling", node.scheduling()},
          {"reason", string_or_null(node.reason())},
          {"reason_by", string_or_null(node.reason_by())},
          {"gpus", node.gpus()},
          {"gpus_free", node.gpus_free()},
          {"jobs", list_json(node.jobs())},
          {"health", node.health()},
          {"checks", checks},
          {"address", node.address()},
          {"cpus", node.cpus()},
          {"memory_bytes", node.memory_bytes()},
          {"gpu_model", node.gpu_model()},
          {"agent_version", node.agent_version()},
          {"gpu_readings", gpu_readings},
          {"drain_at", OPTIONAL_JSON(node, drain_at_us, time_json)},
          {"seen_at", OPTIONAL_JSON(node, seen_at_us, time_json)},
          {"repair", node.has_repair() ? repair_json(node.repair()) : Json()},
          {"validated_at", time_or_null(node.validated_at_us())},
          {"judgement", string_or_null(node.judgement())},
          {"lemon_score", node.lemon_score()},
          {"lemon_text", string_or_null(node.lemon_text())}};
}

Json to_json(const v1::Cluster& cluster) {
  return {{"name", cluster.name()},
          {"version", cluster.version()},
          {"epoch", cluster.epoch()},
          {"leader", cluster.leader()},
          {"started_at", time_or_null(cluster.started_at_us())},
          {"gpus",
           {{"total", cluster.gpus_total()},
            {"used", cluster.gpus_used()},
            {"free", cluster.gpus_free()},
            {"reserved", cluster.gpus_reserved()},
            {"draining", cluster.gpus_draining() - cluster.gpus_reserved()},
            {"broken", cluster.gpus_broken()}}},
          {"nodes",
           {{"liveness", map_json(cluster.nodes_by_liveness())},
            {"scheduling", map_json(cluster.nodes_by_scheduling())}}},
          {"jobs", map_json(cluster.jobs_by_state())},
          {"last_seq", cluster.last_seq()}};
}

Json to_json(const v1::WhoAmIReply& who) {
  return {{"user", who.user()},
          {"role", who.role()},
          {"groups", list_json(who.groups())},
          {"cluster", who.cluster()},
          {"quotas", objects_json(who.quotas())}};
}

Json to_json(const v1::Quota& quota) {
  return {{"owner", quota.owner()},
          {"group", quota.group()},
          {"priority", quota.priority()},
          {"nodes", quota.nodes() < 0 ? Json(nullptr) : Json(quota.nodes())},
          {"nodes_used", quota.nodes_used()}};
}

Json to_json(const v1::User& user) {
  return {{"name", user.name()},
          {"role", user.role()},
          {"groups", list_json(user.groups())},
          {"active", user.active()},
          {"created_at", time_or_null(user.created_at_us())}};
}

Json to_json(const v1::Token& token) {
  return {{"id", token.id()},
          {"user", token.user()},
          {"label", token.label()},
          {"created_at", time_json(token.created_at_us())},
          {"expires_at", OPTIONAL_JSON(token, expires_at_us, time_json)},
          {"revoked_at", OPTIONAL_JSON(token, revoked_at_us, time_json)}};
}

#undef OPTIONAL_JSON

}  // namespace hai::cli
