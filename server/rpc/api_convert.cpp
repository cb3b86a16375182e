#include "server/rpc/api_convert.h"

#include "proto/convert/spec_convert.h"
#include "server/auth/token.h"
#include "server/store/json_text.h"

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
  out.set_zone(clean_utf8(spec.zone));
  out.set_node_count(spec.node_count);
  out.set_gpus_per_node(spec.gpus_per_node);
}

void set_times(const JobView& view, v1::Job& out) {
  out.set_submitted_at_us(to_micros(view.submitted_at));
  if (view.started_at) out.set_started_at_us(to_micros(*view.started_at));
  if (view.ended_at) out.set_ended_at_us(to_micros(*view.ended_at));
}

}  // namespace

void to_proto(const JobView& view, WithSpec with_spec, v1::Job& out) {
  set_spec_fields(*view.spec, out);
  set_times(view, out);
  out.set_id(view.id);
  out.set_user(view.user);
  out.set_priority(word(to_string(view.priority)));
  out.set_state(word(to_string(view.state)));
  out.set_held(view.held);
  out.set_attempt(view.attempt);
  out.set_attempt_state(view.attempt_state);
  if (view.pending_reason) {
    out.mutable_pending_reason()->set_code(word(to_string(view.pending_reason->code)));
    out.mutable_pending_reason()->set_text(clean_utf8(view.pending_reason->text));
  }
  if (view.exit_code) out.set_exit_code(*view.exit_code);
  for (const std::string& node : view.nodes) out.add_nodes(node);
  out.set_suspend_count(view.suspend_count);
  out.set_requeue_count(view.requeue_count);
  out.set_lost_gpu_seconds(static_cast<double>(view.lost_gpu_seconds));
  out.set_end_reason(
      clean_utf8(view.end_reason.empty() ? view.last_attempt_reason : view.end_reason));
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
  out.set_end_reason(clean_utf8(view.end_reason));
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
  out.set_evidence(clean_utf8(check.result.evidence));
  out.set_at_us(to_micros(check.result.at));
  out.set_done(check.done);
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
  out.set_lemon_score(view.lemon_score);
  out.set_lemon_text(view.lemon_text);
  out.set_validated_at_us(to_micros(health.validated_at));
  out.set_judgement(clean_utf8(health.judgement));
  for (const NodeMeasure& measure : health.measured) {
    v1::NodeMeasure& added = *out.add_measured();
    added.set_name(clean_utf8(measure.name));
    added.set_unit(clean_utf8(measure.unit));
    added.set_value(measure.value);
  }
  for (const NodeMark& mark : health.marks) {
    v1::NodeMark& added = *out.add_marks();
    added.set_at_us(to_micros(mark.at));
    added.set_kind(clean_utf8(mark.kind));
    added.set_job(mark.job.value);
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
  out.set_reason(clean_utf8(view.node.scheduling_reason.empty() ? view.node.liveness_reason
                                                                : view.node.scheduling_reason));
  out.set_reason_by(view.node.scheduling_by);
  if (view.node.drain_at) out.set_drain_at_us(to_micros(*view.node.drain_at));
  out.set_gpus(facts.gpus);
  out.set_gpus_free(view.gpus_free);
  for (int64_t job : view.jobs) out.add_jobs(job);
  out.set_health(view.health);
  out.set_address(facts.address);
  out.set_cpus(facts.cpus);
  out.set_memory_bytes(facts.memory_bytes);
  out.set_gpu_model(clean_utf8(facts.gpu_model));
  out.set_agent_version(clean_utf8(facts.agent_version));
  for (const GpuReading& reading : view.gpu_readings) {
    v1::NodeGpu& gpu = *out.add_gpu_readings();
    if (reading.utilization_percent) gpu.set_utilization_percent(*reading.utilization_percent);
    if (reading.temperature_celsius) gpu.set_temperature_celsius(*reading.temperature_celsius);
  }
  health_to_proto(view, out);
}

void to_proto(const ClusterSummary& summary, v1::Cluster& out) {
  const ClusterView& view = summary.view;
  out.set_name(view.name);
  out.set_version(summary.version);
  out.set_epoch(view.epoch);
  out.set_gpus_total(view.gpus_total);
  out.set_gpus_used(view.gpus_used);
  out.set_gpus_free(view.gpus_free);
  // Its field covers both: a client that knows only it must not lose any.
  out.set_gpus_draining(summary.gpus_draining + summary.gpus_reserved);
  out.set_gpus_reserved(summary.gpus_reserved);
  out.set_gpus_broken(summary.gpus_broken);
  out.set_last_seq(summary.last_seq);
  out.set_started_at_us(to_micros(summary.epoch_started_at));
  for (const auto& [text, count] : view.nodes_by_liveness) {
    (*out.mutable_nodes_by_liveness())[text] = count;
  }
  for (const auto& [text, count] : view.nodes_by_scheduling) {
    (*out.mutable_nodes_by_scheduling())[text] = count;
  }
  for (const auto& [text, count] : view.jobs_by_state) {
    (*out.mutable_jobs_by_state())[text] = static_cast<int32_t>(count);
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

void to_proto(const Token& token, v1::Token& out) {
  out.set_id(token_id(token.hash));
  out.set_user(token.user);
  out.set_label(clean_utf8(token.label));
  out.set_created_at_us(to_micros(token.created_at));
}

void to_proto(const LogPiece& piece, v1::ReadLogReply& out) {
  out.set_data(piece.data);
  out.set_offset(piece.offset);
  out.set_attempt(piece.attempt);
  out.set_rank(piece.rank);
  out.set_end(piece.end);
}

void to_proto(const ActionResult& result, v1::ControlResult& out) {
  out.set_name(result.name);
  out.set_job_id(result.job.value);
  out.set_code(static_cast<int32_t>(result.status.code()));
  out.set_message(clean_utf8(result.status.is_ok() ? result.message : result.status.message()));
}

void to_proto(const ActionResult& result, v1::SubmitResult& out) {
  out.set_name(result.name);
  out.set_job_id(result.job.value);
  out.set_code(static_cast<int32_t>(result.status.code()));
  out.set_message(clean_utf8(result.status.message()));
}

int page_size(int asked, int standard) { return asked == 0 ? standard : asked; }

}  // namespace hai
