#include "server/http/json.h"

#include <nlohmann/json.hpp>

#include "server/auth/token.h"

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

// One entry per GPU: the job that has it, or null.
Json gpu_jobs_json(const Node& node) {
  std::vector<Json> jobs(static_cast<size_t>(node.facts.gpus));
  for (const Occupant& occupant : node.occupants) {
    for (int gpu = 0; gpu < node.facts.gpus; ++gpu) {
      if (occupant.gpus.contains(gpu)) jobs[static_cast<size_t>(gpu)] = occupant.job.value;
    }
  }
  return jobs;
}

Json sums_json(const SumsByWord& sums) {
  Json json = Json::object();
  for (const auto& [word, sum] : sums) {
    json[word] = {{"jobs", sum.jobs}, {"nodes", sum.nodes}, {"gpus", sum.gpus}};
  }
  return json;
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

namespace {

Json check_json(const NodeCheck& check) {
  return {{"name", check.result.name},
          {"subject", check.result.subject},
          {"state", to_string(check.result.verdict)},
          {"tier", to_string(check.result.tier)},
          {"text", check.result.summary},
          {"evidence", or_null(check.result.evidence)},
          {"at", format_rfc3339(check.result.at)},
          {"done", or_null(check.done)}};
}

Json repair_json(const NodeRepair& repair) {
  if (repair.step == RepairStep::none) return nullptr;
  return {{"step", to_string(repair.step)},
          {"reason", repair.reason},
          {"since", format_rfc3339(repair.since)},
          {"round", repair.round},
          {"job", repair.job ? Json(repair.job.value) : Json()},
          {"incident", repair.incident ? Json(repair.incident.value) : Json()}};
}

Json validation_json(const NodeHealth& health) {
  Json measured = Json::array();
  for (const NodeMeasure& measure : health.measured) {
    measured.push_back({{"name", measure.name}, {"unit", measure.unit}, {"value", measure.value}});
  }
  return {{"passed_at", format_rfc3339(health.validated_at)},
          {"judged_at",
           health.judged_at == UnixTime{} ? Json() : Json(format_rfc3339(health.judged_at))},
          {"passed", health.is_passed},
          {"text", or_null(health.judgement)},
          {"measured", std::move(measured)}};
}

}  // namespace

static Json gpu_readings_json(const std::vector<GpuReading>& readings,
                              std::optional<int> GpuReading::*value) {
  Json values = Json::array();
  for (const GpuReading& reading : readings) values.push_back(or_null(reading.*value));
  return values;
}

static Json node_json(const NodeView& view) {
  const Node& node = view.node;
  Json checks = Json::array();
  for (const NodeCheck& check : view.checks) checks.push_back(check_json(check));
  return {{"name", node.facts.name},
          {"group", node.facts.group},
          {"zone", node.facts.zone},
          {"leaf", node.facts.leaf},
          {"liveness", to_string(node.liveness)},
          {"scheduling", to_string(node.scheduling)},
          {"reason",
           or_null(node.scheduling_reason.empty() ? node.liveness_reason : node.scheduling_reason)},
          {"reason_by", or_null(node.scheduling_by)},
          {"drain_at", optional_time(node.drain_at)},
          {"gpus", node.facts.gpus},
          {"gpus_free", view.gpus_free},
          {"jobs", view.jobs},
          {"gpu_jobs", gpu_jobs_json(node)},
          {"health", view.health},
          {"checks", std::move(checks)},
          {"repair", repair_json(node.health.repair)},
          {"validation", validation_json(node.health)},
          {"lemon_score", view.lemon_score},
          {"lemon_text", or_null(view.lemon_text)},
          {"address", node.facts.address},
          {"cpus", node.facts.cpus},
          {"memory_bytes", node.facts.memory_bytes},
          {"gpu_model", node.facts.gpu_model},
          {"agent_version", node.facts.agent_version}};
}

Json to_json(const NodeView& view) {
  Json node = node_json(view);
  if (!view.gpu_readings.empty()) {
    const std::vector<GpuReading>& readings = view.gpu_readings;
    node["gpu_utilization"] = gpu_readings_json(readings, &GpuReading::utilization_percent);
    node["gpu_temperature"] = gpu_readings_json(readings, &GpuReading::temperature_celsius);
  }
  return node;
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
        {"reserved", summary.gpus_reserved},
        {"draining", summary.gpus_draining},
        {"broken", summary.gpus_broken}}},
      {"nodes", {{"liveness", view.nodes_by_liveness}, {"scheduling", view.nodes_by_scheduling}}},
      {"jobs", view.jobs_by_state},
      {"last_seq", summary.last_seq}};
}

Json to_json(const CensusView& census) {
  return {{"running",
           {{"by_user", sums_json(census.running_by_user)},
            {"by_group", sums_json(census.running_by_group)},
            {"by_priority", sums_json(census.running_by_priority)}}},
          {"waiting",
           {{"by_reason", sums_json(census.waiting_by_reason)},
            {"by_user", sums_json(census.waiting_by_user)},
            {"by_group", sums_json(census.waiting_by_group)},
            {"by_priority", sums_json(census.waiting_by_priority)}}},
          {"counted_at", format_rfc3339(census.at)}};
}

Json to_json(const Token& token) {
  return {{"id", token_id(token.hash)},
          {"user", token.user},
          {"label", token.label},
          {"created_at", format_rfc3339(token.created_at)}};
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
  Json notes = Json::array();
  for (const IncidentNote& note : incident.notes) {
    notes.push_back({{"at", format_rfc3339(note.at)}, {"text", note.text}});
  }
  return {{"id", incident.id.value},
          {"kind", incident.kind},
          {"subject", incident.subject},
          {"summary", incident.summary},
          {"opened_at", format_rfc3339(incident.opened_at)},
          {"closed_at", optional_time(incident.closed_at)},
          {"close_reason", or_null(incident.close_reason)},
          {"nodes", view.nodes},
          {"notes", std::move(notes)}};
}

}  // namespace hai
