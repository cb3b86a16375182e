#include "server/api/messages.h"

#include <cmath>

#include "common/array_range.h"
#include "common/job_service.h"
#include "common/json/json_text.h"
#include "proto/convert/spec_convert.h"
#include "server/auth/token.h"

namespace hai {

namespace {

std::string word(std::string_view text) { return std::string(text); }

void set_checkpoint(const CheckpointInfo& checkpoint, v1::Checkpoint& out) {
  out.set_step(checkpoint.step);
  out.set_path(clean_utf8(checkpoint.path));
  out.set_save_seconds(checkpoint.save_seconds);
  out.set_at_us(to_micros(checkpoint.at));
}

void set_spec_fields(const JobSpec& spec, v1::Job& out) {
  out.set_name(clean_utf8(spec.name));
  for (const std::string& tag : spec.tags) out.add_tags(clean_utf8(tag));
  out.set_workspace(clean_utf8(spec.workspace));
  out.set_entrypoint(clean_utf8(spec.entrypoint));
  out.set_parameters(clean_utf8(spec.parameters));
  out.set_group(clean_utf8(spec.group));
  if (!spec.zone.empty()) out.set_zone(clean_utf8(spec.zone));
  out.set_node_count(spec.node_count);
  out.set_gpus_per_node(spec.gpus_per_node);
}

void set_times(const JobView& view, v1::Job& out) {
  out.set_submitted_at_us(to_micros(view.submitted_at));
  if (view.started_at) out.set_started_at_us(to_micros(*view.started_at));
  if (view.ended_at) out.set_ended_at_us(to_micros(*view.ended_at));
}

}  // namespace

static void set_array(const JobView& view, v1::ArrayJob& out) {
  out.set_range(view.spec->array);
  if (const auto range = ArrayRange::parse(view.spec->array); range.is_ok()) {
    out.set_tasks(range.value().count());
    const IndexSpans early = view.array.gaps ? view.array.gaps->made_early : IndexSpans{};
    out.set_to_come(range.value().text_from(view.array.next(), early));
  }
  out.set_made(view.array.made);
  out.set_unfinished(view.array.unfinished);
  out.set_succeeded(view.array.succeeded);
  out.set_failed(view.array.failed);
  out.set_stopped(view.array.stopped);
}

static void add_services(const JobView& view, v1::Job& out) {
  for (const std::string& text : view.spec->program.services) {
    const Result<JobService> service = parse_service(text);
    if (!service.is_ok()) continue;
    v1::JobService& added = *out.add_services();
    added.set_name(service.value().name);
    added.set_port(service.value().port);
    added.set_rank(service.value().rank);
    added.set_protocol(word(to_string(service.value().kind)));
    if (service.value().kind == JobService::Kind::http)
      added.set_path(service_path(JobId{view.id}, service.value().name));
  }
}

void to_proto(const JobView& view, WithSpec with_spec, v1::Job& out) {
  set_spec_fields(*view.spec, out);
  set_times(view, out);
  out.set_id(view.id);
  out.set_user(view.user);
  out.set_priority(word(to_string(view.priority)));
  out.set_state(word(to_string(view.state)));
  out.set_held(view.held);
  out.set_attempt(view.attempt);
  if (!view.attempt_state.empty()) out.set_attempt_state(view.attempt_state);
  if (view.pending_reason) {
    out.mutable_pending_reason()->set_code(word(to_string(view.pending_reason->code)));
    out.mutable_pending_reason()->set_text(clean_utf8(view.pending_reason->text));
  }
  if (view.array_task) {
    out.mutable_array_task()->set_array(view.array_task->array.value);
    out.mutable_array_task()->set_index(view.array_task->index);
  }
  if (!view.spec->array.empty()) set_array(view, *out.mutable_array());
  add_services(view, out);
  if (view.exit_code) out.set_exit_code(*view.exit_code);
  for (const std::string& node : view.nodes) out.add_nodes(node);
  out.set_suspend_count(view.counters.suspend_count);
  out.set_requeue_count(view.counters.requeue_count);
  out.set_lost_gpu_seconds(view.counters.lost_gpu_seconds);
  out.set_run_seconds(view.counters.run_seconds);
  if (view.counters.peak_memory_bytes > 0) {
    out.set_cpu_seconds(view.counters.cpu_time / 1s);
    out.set_peak_memory_bytes(view.counters.peak_memory_bytes);
  }
  if (view.running_at) out.set_running_at_us(to_micros(*view.running_at));
  const std::string& reason = view.end_reason.empty() ? view.last_attempt_reason : view.end_reason;
  if (!reason.empty()) out.set_end_reason(clean_utf8(reason));
  if (view.checkpoint) set_checkpoint(*view.checkpoint, *out.mutable_checkpoint());
  if (view.progress_step) out.set_progress_step(*view.progress_step);
  if (!view.whole_life_state.empty()) out.set_whole_life_state(clean_utf8(view.whole_life_state));
  if (with_spec == WithSpec::yes) *out.mutable_spec() = to_proto(*view.spec);
}

void to_proto(const AttemptView& view, v1::Attempt& out) {
  out.set_job_id(view.job);
  out.set_number(view.number);
  out.set_state(view.state);
  out.set_placed_at_us(to_micros(view.placed_at));
  if (view.running_at) out.set_running_at_us(to_micros(*view.running_at));
  if (view.ended_at) out.set_ended_at_us(to_micros(*view.ended_at));
  if (!view.end_reason.empty()) out.set_end_reason(clean_utf8(view.end_reason));
  if (view.exit_code) out.set_exit_code(*view.exit_code);
  for (const RankView& rank : view.ranks) {
    v1::RankInfo& info = *out.add_ranks();
    info.set_rank(rank.rank);
    info.set_node(rank.node);
    for (int gpu : rank.gpus) info.add_gpus(gpu);
    info.set_phase(rank.state);
    info.set_cause(rank.cause);
    if (rank.exit_code) info.set_exit_code(*rank.exit_code);
    info.set_message(clean_utf8(rank.message));
  }
}

namespace {

void check_to_proto(const NodeCheck& check, v1::NodeCheck& out) {
  out.set_name(check.result.name);
  out.set_subject(clean_utf8(check.result.subject));
  out.set_state(word(to_string(check.result.verdict)));
  out.set_tier(word(to_string(check.result.tier)));
  out.set_text(clean_utf8(check.result.summary));
  if (!check.result.evidence.empty()) out.set_evidence(clean_utf8(check.result.evidence));
  out.set_at_us(to_micros(check.result.at));
  if (check.done != FaultAnswer::none) out.set_done(word(to_string(check.done)));
}

void validation_to_proto(const NodeHealth& health, v1::NodeValidation& out) {
  if (health.validated_at != UnixTime{}) out.set_passed_at_us(to_micros(health.validated_at));
  if (health.judged_at != UnixTime{}) out.set_judged_at_us(to_micros(health.judged_at));
  out.set_passed(health.is_passed);
  if (!health.judgement.empty()) out.set_text(clean_utf8(health.judgement));
  for (const NodeMeasure& measure : health.measured) {
    v1::NodeMeasure& added = *out.add_measured();
    added.set_name(clean_utf8(measure.name));
    added.set_unit(clean_utf8(measure.unit));
    added.set_value(measure.value);
  }
}

void health_to_proto(const NodeView& view, v1::Node& out) {
  const NodeHealth& health = view.node.health;
  for (const NodeCheck& check : view.checks) check_to_proto(check, *out.add_checks());
  if (health.repair.step != RepairStep::none) {
    v1::NodeRepair& repair = *out.mutable_repair();
    repair.set_step(word(to_string(health.repair.step)));
    repair.set_reason(clean_utf8(health.repair.reason));
    repair.set_since_us(to_micros(health.repair.since));
    repair.set_round(health.repair.round);
    repair.set_job(health.repair.job.value);
    repair.set_incident(health.repair.incident.value);
  }
  validation_to_proto(health, *out.mutable_validation());
  out.set_lemon_score(view.lemon_score);
  if (!view.lemon_text.empty()) out.set_lemon_text(view.lemon_text);
  for (const NodeMark& mark : health.marks) {
    v1::NodeMark& added = *out.add_marks();
    added.set_at_us(to_micros(mark.at));
    added.set_kind(clean_utf8(mark.text()));
    added.set_job(mark.job.value);
  }
}

// One entry per GPU.
void gpus_to_proto(const NodeView& view, v1::Node& out) {
  const Node& node = view.node;
  for (int gpu = 0; gpu < node.facts.gpus; ++gpu) out.add_gpu_jobs(0);
  for (const Occupant& occupant : node.occupants) {
    for (int gpu = 0; gpu < node.facts.gpus; ++gpu) {
      if (occupant.gpus.contains(gpu)) out.set_gpu_jobs(gpu, occupant.job.value);
    }
  }
  for (const GpuReading& reading : view.gpu_readings) {
    out.add_gpu_utilization(reading.utilization_percent.value_or(-1));
    out.add_gpu_temperature(reading.temperature_celsius.value_or(-1));
    out.add_gpu_memory(reading.memory_percent.value_or(-1));
    out.add_gpu_power(reading.power_watts.value_or(-1));
  }
}

}  // namespace

void to_proto(const NodeView& view, v1::Node& out) {
  const NodeFacts& facts = view.node.facts;
  out.set_name(facts.name);
  out.set_group(facts.group);
  out.set_zone(facts.zone);
  out.set_leaf(facts.leaf);
  out.set_liveness(word(to_string(view.node.liveness)));
  out.set_scheduling(word(to_string(view.node.scheduling)));
  const std::string& reason =
      view.node.scheduling_reason.empty() ? view.node.liveness_reason : view.node.scheduling_reason;
  if (!reason.empty()) out.set_reason(clean_utf8(reason));
  if (!view.node.scheduling_by.empty()) out.set_reason_by(view.node.scheduling_by);
  if (view.node.drain_at) out.set_drain_at_us(to_micros(*view.node.drain_at));
  out.set_gpus(facts.gpus);
  out.set_gpus_free(view.gpus_free);
  for (int64_t job : view.jobs) out.add_jobs(job);
  out.set_health(view.health);
  out.set_address(facts.address);
  out.set_cpus(facts.cpus);
  out.set_memory_bytes(facts.memory_bytes);
  out.set_cpus_free(view.host_free.cpus);
  out.set_memory_free_bytes(view.host_free.memory_bytes);
  out.set_gpu_model(clean_utf8(facts.gpu_model));
  out.set_agent_version(clean_utf8(facts.agent_version));
  for (const std::string& label : facts.labels) out.add_labels(label);
  const NodeSettings& set = view.node.set;
  if (set.group) out.add_set("group");
  if (set.zone) out.add_set("zone");
  if (set.leaf) out.add_set("leaf");
  if (set.labels) out.add_set("labels");
  gpus_to_proto(view, out);
  health_to_proto(view, out);
}

void to_proto(const NodeStay& stay, v1::NodeStay& out) {
  out.set_job_id(stay.job.value);
  out.set_name(clean_utf8(stay.name));
  out.set_user(clean_utf8(stay.user));
  out.set_attempt(stay.attempt);
  out.set_rank(stay.rank);
  out.set_state(word(to_string(stay.state)));
  out.set_placed_at_us(to_micros(stay.placed_at));
  if (stay.ended_at) out.set_ended_at_us(to_micros(*stay.ended_at));
  if (!stay.end_reason.empty()) out.set_end_reason(clean_utf8(stay.end_reason));
}

namespace {

template <typename Map, typename Counts>
void counts_to_proto(const Counts& counts, Map& out) {
  for (const auto& [text, count] : counts) out[text] = count;
}

void sums_to_proto(const SumsByWord& sums, google::protobuf::Map<std::string, v1::JobSums>& out) {
  for (const auto& [text, sum] : sums) {
    v1::JobSums& each = out[clean_utf8(text)];
    each.set_jobs(sum.jobs);
    each.set_nodes(sum.nodes);
    each.set_gpus(sum.gpus);
  }
}

}  // namespace

void to_proto(const ClusterSummary& summary, const CensusView& census, v1::Cluster& out) {
  const ClusterView& view = summary.view;
  out.set_name(view.name);
  out.set_version(summary.version);
  out.set_epoch(view.epoch);
  out.set_started_at_us(to_micros(summary.epoch_started_at));
  out.set_gpus_total(view.gpus_total);
  out.set_gpus_used(view.gpus_used);
  out.set_gpus_free(view.gpus_free);
  out.set_gpus_reserved(summary.gpus_reserved);
  out.set_gpus_draining(summary.gpus_draining);
  out.set_gpus_broken(summary.gpus_broken);
  out.set_cpus_total(view.cpus.total);
  out.set_cpus_used(view.cpus.used);
  out.set_cpus_free(view.cpus.free);
  out.set_memory_total_bytes(view.memory_bytes.total);
  out.set_memory_used_bytes(view.memory_bytes.used);
  out.set_memory_free_bytes(view.memory_bytes.free);
  counts_to_proto(view.nodes_by_liveness, *out.mutable_nodes_by_liveness());
  counts_to_proto(view.nodes_by_scheduling, *out.mutable_nodes_by_scheduling());
  counts_to_proto(view.jobs_by_state, *out.mutable_jobs_by_state());
  out.set_last_seq(summary.last_seq);
  sums_to_proto(census.running_by_user, *out.mutable_running_by_user());
  sums_to_proto(census.running_by_group, *out.mutable_running_by_group());
  sums_to_proto(census.running_by_priority, *out.mutable_running_by_priority());
  sums_to_proto(census.waiting_by_reason, *out.mutable_waiting_by_reason());
  sums_to_proto(census.waiting_by_user, *out.mutable_waiting_by_user());
  sums_to_proto(census.waiting_by_group, *out.mutable_waiting_by_group());
  sums_to_proto(census.waiting_by_priority, *out.mutable_waiting_by_priority());
  out.set_counted_at_us(to_micros(census.at));
}

void to_proto(const ClusterSeries::Window& window, v1::ClusterSeries& out) {
  out.set_step_seconds(window.step / Duration(1s));
  const google::protobuf::Reflection& reflection = *out.GetReflection();
  for (const ClusterSample& sample : window.samples) {
    out.add_at_us(to_micros(sample.at));
    for (size_t i = 0; i < kSampleWords.size(); ++i) {
      reflection.AddDouble(&out, out.GetDescriptor()->FindFieldByName(std::string(kSampleWords[i])),
                           std::round(sample.values[i] * 10) / 10);
    }
  }
}

void to_proto(const IncidentView& view, v1::Incident& out) {
  const Incident& incident = view.incident;
  out.set_id(incident.id.value);
  out.set_kind(incident.kind);
  out.set_subject(incident.subject);
  out.set_summary(clean_utf8(incident.summary));
  out.set_opened_at_us(to_micros(incident.opened_at));
  if (incident.closed_at) out.set_closed_at_us(to_micros(*incident.closed_at));
  if (!incident.close_reason.empty()) out.set_close_reason(clean_utf8(incident.close_reason));
  for (const std::string& node : view.nodes) out.add_nodes(node);
  for (const IncidentNote& note : incident.notes) {
    v1::IncidentNote& added = *out.add_notes();
    added.set_at_us(to_micros(note.at));
    added.set_text(clean_utf8(note.text));
  }
}

void to_proto(const EventView& view, v1::Event& out) {
  out.set_seq(view.seq);
  out.set_at_us(to_micros(view.at));
  out.set_actor(clean_utf8(view.actor));
  out.set_kind(view.kind);
  out.set_subject(clean_utf8(view.subject));
  out.set_text(clean_utf8(view.text));
  out.set_body_json(view.body_json);
  out.set_job_id(view.job);
  out.set_node(view.node);
}

void to_proto(const QuotaView& view, v1::Quota& out) {
  out.set_owner(clean_utf8(view.quota.owner));
  out.set_group(clean_utf8(view.quota.group));
  out.set_priority(word(to_string(view.quota.priority)));
  const bool is_unlimited = view.quota.nodes >= Quota::kUnlimited;
  out.set_nodes(is_unlimited ? -1 : static_cast<int32_t>(view.quota.nodes));
  out.set_nodes_used(static_cast<int32_t>(view.nodes_used));
}

void to_proto(const User& user, v1::User& out) {
  out.set_name(clean_utf8(user.name));
  out.set_role(word(to_string(user.role)));
  for (const std::string& group : user.groups) out.add_groups(clean_utf8(group));
  out.set_active(user.active);
}

void to_proto(const WhoAmIView& view, v1::WhoAmIReply& out) {
  out.set_user(clean_utf8(view.user.name));
  out.set_role(word(to_string(view.user.role)));
  for (const std::string& group : view.user.groups) out.add_groups(clean_utf8(group));
  out.set_cluster(view.cluster);
  for (const QuotaView& quota : view.quotas) to_proto(quota, *out.add_quotas());
}

void to_proto(const Token& token, v1::Token& out) {
  out.set_id(token_id(token.hash));
  out.set_user(token.user);
  out.set_label(clean_utf8(token.label));
  out.set_created_at_us(to_micros(token.created_at));
  if (token.expires_at) out.set_expires_at_us(to_micros(*token.expires_at));
  if (token.last_used_at) out.set_last_used_at_us(to_micros(*token.last_used_at));
  out.set_scope(word(to_string(token.scope)));
  out.set_is_session(token.kind == TokenKind::session);
}

void to_proto(const Secret& secret, v1::Secret& out) {
  out.set_user(secret.user);
  out.set_name(secret.name);
  out.set_set_at_us(to_micros(secret.set_at));
  out.set_version(secret.version);
}

void to_proto(const ProgressPoint& point, v1::ProgressPoint& out) {
  out.set_at_us(to_micros(point.at));
  out.set_step(point.step);
}

bool to_proto(const EventView& event, v1::JobCheckpoint& out) {
  if (!event.checkpoint) return false;
  const CheckpointInfo& info = event.checkpoint->checkpoint;
  out.set_attempt(event.checkpoint->attempt);
  out.set_step(info.step);
  out.set_path(clean_utf8(info.path));
  out.set_save_seconds(info.save_seconds);
  out.set_at_us(to_micros(event.at));
  return true;
}

void to_proto(const LogPiece& piece, v1::ReadLogReply& out) {
  out.set_data(piece.data);
  out.set_offset(piece.offset);
  out.set_attempt(piece.attempt);
  out.set_rank(piece.rank);
  out.set_end(piece.end);
  if (!piece.extent) return;
  out.mutable_extent()->set_begin(piece.extent->begin);
  out.mutable_extent()->set_size(piece.extent->size);
  out.mutable_extent()->set_over(piece.extent->is_over);
}

void to_proto(const ActionResult& result, v1::ControlResult& out) {
  out.set_name(result.name);
  out.set_job_id(result.job.value);
  out.set_code(static_cast<v1::Code>(result.status.code()));
  out.set_message(clean_utf8(result.status.is_ok() ? result.message : result.status.message()));
}

void to_proto(const ActionResult& result, v1::SubmitResult& out) {
  out.set_name(result.name);
  out.set_job_id(result.job.value);
  out.set_code(static_cast<v1::Code>(result.status.code()));
  out.set_message(clean_utf8(result.status.message()));
}

void to_proto(const WhyView& view, v1::WhyJobReply& out) {
  v1::Job& job = *out.mutable_job();
  to_proto(view.job, WithSpec::no, job);
  out.set_id(job.id());
  out.set_name(job.name());
  out.set_state(job.state());
  out.set_held(job.held());
  if (job.has_pending_reason()) *out.mutable_pending_reason() = job.pending_reason();
  for (const BlockingFact& fact : view.facts) {
    v1::BlockingFact& each = *out.add_facts();
    each.set_code(std::string(to_string(fact.kind)));
    each.set_text(fact.text);
    each.mutable_holders()->Assign(fact.holders.begin(), fact.holders.end());
  }
  if (view.start_p50) out.set_start_p50_us(to_micros(*view.start_p50));
  if (view.start_p90) out.set_start_p90_us(to_micros(*view.start_p90));
  if (!view.estimate_note.empty()) out.set_estimate_note(view.estimate_note);
  if (view.jobs_before) out.set_jobs_before(*view.jobs_before);
}

void to_proto(const WhatIfView& view, v1::WhatIfReply& out) {
  out.set_text(view.text);
  for (const DifferenceView& each : view.differences) {
    v1::JobDifference& difference = *out.add_differences();
    difference.set_job_id(each.difference.job.value);
    difference.set_name(each.name);
    difference.set_user(each.user);
    difference.set_priority(std::string(to_string(each.priority)));
    difference.set_effect(std::string(to_string(each.difference.effect)));
    difference.set_text(each.difference.text);
    difference.mutable_nodes()->Assign(each.difference.nodes.begin(), each.difference.nodes.end());
    difference.mutable_nodes_before()->Assign(each.difference.nodes_before.begin(),
                                              each.difference.nodes_before.end());
  }
  out.set_differences_left_out(static_cast<int32_t>(view.left_out));
  if (view.job) to_proto(*view.job, *out.mutable_job());
}

}  // namespace hai
