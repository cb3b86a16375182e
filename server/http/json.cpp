#include "server/http/json.h"

#include <nlohmann/json.hpp>

namespace hai {

namespace {

Json optional_time(const std::optional<UnixTime>& time) {
  return time ? Json(format_rfc3339(*time)) : Json();
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json reason_json(const std::optional<PendingReason>& reason) {
  if (!reason) return {};
  return {{"code", to_string(reason->code)}, {"text", reason->text}};
}

Json checkpoint_json(const std::optional<CheckpointInfo>& checkpoint) {
  if (!checkpoint) return {};
  return {{"step", checkpoint->step},
          {"path", checkpoint->path},
          {"save_seconds", checkpoint->save_seconds},
          {"at", format_rfc3339(checkpoint->at)}};
}

Json rank_json(const RankView& rank) {
  return {{"rank", rank.rank},      {"node", rank.node},   {"gpus", rank.gpus},
          {"phase", rank.state},    {"cause", rank.cause}, {"exit_code", or_null(rank.exit_code)},
          {"message", rank.message}};
}

}  // namespace

Json to_json(const JobView& view) {
  return {
      {"id", view.id},
      {"name", view.name},
      {"user", view.user},
      {"group", view.spec->group},
      {"priority", to_string(view.priority)},
      {"state", to_string(view.state)},
      {"held", view.held},
      {"node_count", view.node_count},
      {"gpus_per_node", view.gpus_per_node},
      {"submitted_at", format_rfc3339(view.submitted_at)},
      {"started_at", optional_time(view.started_at)},
      {"ended_at", optional_time(view.ended_at)},
      {"attempt", view.attempt},
      {"pending_reason", reason_json(view.pending_reason)},
      {"exit_code", or_null(view.exit_code)},
      {"nodes", view.nodes},
      {"suspend_count", view.suspend_count},
      {"requeue_count", view.requeue_count},
      {"lost_gpu_seconds", view.lost_gpu_seconds},
      {"attempt_state", or_null(view.attempt_state)},
      {"end_reason", or_null(view.end_reason.empty() ? view.last_attempt_reason : view.end_reason)},
      {"zone", or_null(view.spec->zone)},
      {"tags", view.spec->tags},
      {"checkpoint", checkpoint_json(view.checkpoint)},
      {"progress_step", or_null(view.progress_step)},
      {"whole_life_state", or_null(view.whole_life_state)},
      {"workspace", view.spec->workspace},
      {"entrypoint", view.spec->entrypoint},
      {"parameters", view.spec->parameters}};
}

Json to_json(const AttemptView& view) {
  Json ranks = Json::array();
  for (const RankView& rank : view.ranks) ranks.push_back(rank_json(rank));
  return {{"job_id", view.job},
          {"attempt", view.number},
          {"state", view.state},
          {"placed_at", format_rfc3339(view.placed_at)},
          {"running_at", optional_time(view.running_at)},
          {"ended_at", optional_time(view.ended_at)},
          {"end_reason", or_null(view.end_reason)},
          {"exit_code", or_null(view.exit_code)},
          {"ranks", std::move(ranks)}};
}

Json to_json(const NodeView& view) {
  const Node& node = view.node;
  return {{"name", node.facts.name},
          {"group", node.facts.group},
          {"zone", node.facts.zone},
          {"leaf", node.facts.leaf},
          {"liveness", to_string(node.liveness)},
          {"scheduling", to_string(node.scheduling)},
          {"reason",
           or_null(node.scheduling_reason.empty() ? node.liveness_reason : node.scheduling_reason)},
          {"reason_by", or_null(node.scheduling_by)},
          {"gpus", node.facts.gpus},
          {"gpus_free", view.gpus_free},
          {"jobs", view.jobs},
          {"health", view.health},
          {"checks", Json::array()},
          {"address", node.facts.address},
          {"cpus", node.facts.cpus},
          {"memory_bytes", node.facts.memory_bytes},
          {"gpu_model", node.facts.gpu_model},
          {"agent_version", node.facts.agent_version}};
}

Json to_json(const ClusterSummary& summary) {
  const ClusterView& view = summary.view;
  return {
      {"name", view.name},
      {"version", summary.version},
      {"epoch", view.epoch},
      {"gpus",
       {{"total", view.gpus_total},
        {"used", view.gpus_used},
        {"free", view.gpus_free},
        {"draining", summary.gpus_draining},
        {"broken", summary.gpus_broken}}},
      {"nodes", {{"liveness", view.nodes_by_liveness}, {"scheduling", view.nodes_by_scheduling}}},
      {"jobs", view.jobs_by_state},
      {"last_seq", summary.last_seq}};
}

Json to_json(const EventView& view) {
  Json body = Json::parse(view.body_json, nullptr, /*allow_exceptions=*/false);
  if (body.is_discarded()) body = Json::object();
  return {{"seq", view.seq},        {"time", format_rfc3339(view.at)}, {"actor", view.actor},
          {"kind", view.kind},      {"subject", view.subject},         {"text", view.text},
          {"body", std::move(body)}};
}

Json to_json(const QuotaView& view) {
  const bool is_unlimited = view.quota.nodes >= Quota::kUnlimited;
  return {{"owner", view.quota.owner},
          {"group", view.quota.group},
          {"priority", to_string(view.quota.priority)},
          {"nodes", is_unlimited ? Json() : Json(view.quota.nodes)},
          {"nodes_used", view.nodes_used}};
}

Json to_json(const User& user) {
  return {{"name", user.name},
          {"role", to_string(user.role)},
          {"groups", user.groups},
          {"active", user.active}};
}

Json to_json(const WhoAmIView& view) {
  Json quotas = Json::array();
  for (const QuotaView& quota : view.quotas) quotas.push_back(to_json(quota));
  return {{"user", view.user.name},
          {"role", to_string(view.user.role)},
          {"groups", view.user.groups},
          {"cluster", view.cluster},
          {"quotas", std::move(quotas)}};
}

Json to_json(const WhyView& view) {
  Json facts = Json::array();
  for (const BlockingFact& fact : view.facts) {
    facts.push_back(
        {{"code", to_string(fact.kind)}, {"text", fact.text}, {"holders", fact.holders}});
  }
  return {{"id", view.job.id},
          {"name", view.job.name},
          {"state", to_string(view.job.state)},
          {"held", view.job.held},
          {"pending_reason", reason_json(view.job.pending_reason)},
          {"facts", std::move(facts)},
          {"start_p50", optional_time(view.start_p50)},
          {"start_p90", optional_time(view.start_p90)},
          {"estimate_note", or_null(view.estimate_note)}};
}

Json to_json(const WhatIfView& view) {
  Json differences = Json::array();
  for (const DifferenceView& each : view.differences) {
    differences.push_back({{"id", each.difference.job.value},
                           {"name", each.name},
                           {"user", each.user},
                           {"priority", to_string(each.priority)},
                           {"effect", to_string(each.difference.effect)},
                           {"text", each.difference.text},
                           {"nodes", each.difference.nodes},
                           {"nodes_before", each.difference.nodes_before}});
  }
  return {{"change", view.text},
          {"differences", std::move(differences)},
          {"differences_left_out", view.left_out},
          {"job", view.job ? to_json(*view.job) : Json()}};
}

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json to_json(const IncidentView& view) {
  const Incident& incident = view.incident;
  return {{"id", incident.id.value},
          {"kind", incident.kind},
          {"subject", incident.subject},
          {"summary", incident.summary},
          {"opened_at", format_rfc3339(incident.opened_at)},
          {"nodes", view.nodes}};
}

}  // namespace hai
