// What waits, and how what runs uses its GPUs.

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/json/json_text.h"
#include "server/api/answers.h"
#include "server/api/observatory.h"
#include "server/api/operations.h"
#include "server/api/queue_board.h"
#include "server/api/usage_board.h"

namespace hai {

namespace {

constexpr int kRanksDefault = 64;
constexpr int kRanksMax = 1'000;

Result<QueueRequest> queue_request_of(const v1::GetQueueRequest& message) {
  QueueRequest request{.user = message.user(), .team = message.team(), .group = message.group()};
  for (const std::string& text : message.priorities()) {
    Result<Priority> priority = parse_priority(text);
    if (!priority.is_ok()) return priority.status();
    request.priorities.push_back(priority.value());
  }
  Result<int> limit = page_size(message.page_size(), kPageDefault, kPageMax);
  if (!limit.is_ok()) return limit.status();
  request.limit = limit.value();
  Result<std::optional<int64_t>> from = parse_cursor(message.cursor());
  if (!from.is_ok()) return from.status();
  request.from = from.value().value_or(0);
  return request;
}

void to_proto(const QueueEntryView& view, v1::QueueEntry& out) {
  v1::Job job;
  to_proto(view.job, WithSpec::no, job);
  out.set_job_id(job.id());
  out.set_name(job.name());
  out.set_user(job.user());
  out.set_group(clean_utf8(view.group));
  out.set_priority(job.priority());
  out.set_state(job.state());
  out.set_held(job.held());
  out.set_node_count(job.node_count());
  out.set_gpus_per_node(job.gpus_per_node());
  *out.mutable_pending_reason() = job.pending_reason();
  out.set_waiting_since_us(to_micros(view.waiting_since));
  out.set_feedback_class(view.place.feedback_class);
  out.set_nodes_held(view.nodes_held);
  if (view.start_p50) out.set_start_p50_us(to_micros(*view.start_p50));
  if (view.start_p90) out.set_start_p90_us(to_micros(*view.start_p90));
  if (view.place.position == 0) return;
  out.set_position(view.place.position);
  out.mutable_ahead()->set_by_priority(view.place.ahead.by_priority);
  out.mutable_ahead()->set_by_class(view.place.ahead.by_class);
  out.mutable_ahead()->set_by_usage(view.place.ahead.by_usage);
  out.mutable_ahead()->set_by_age(view.place.ahead.by_age);
}

void to_proto(const QueueBlock& block, v1::QueueBlock& out) {
  out.set_kind(std::string(to_string(block.kind)));
  out.set_group(clean_utf8(block.group));
  out.set_nodes(std::round(block.nodes * 1'000) / 1'000);
  out.set_job_id(block.job.value);
  out.set_name(clean_utf8(block.name));
  out.set_user(block.user);
  out.set_jobs(block.jobs);
  if (block.end_p50) out.set_end_p50_us(to_micros(*block.end_p50));
  if (block.end_p90) out.set_end_p90_us(to_micros(*block.end_p90));
  if (block.from) out.set_from_us(to_micros(*block.from));
}

// `waiting`: by node group, also what the order does not reach.
void to_proto(const QueueView& view, const SumsByWord& waiting, v1::Queue& out) {
  for (const QueueEntryView& entry : view.entries) to_proto(entry, *out.add_entries());
  if (view.next) out.set_next_cursor(std::to_string(*view.next));
  out.set_total(static_cast<int>(view.total));
  for (const QueueBlock& block : view.blocks) to_proto(block, *out.add_blocks());
  for (const QueueGroupView& group : view.groups) {
    v1::QueueGroup& each = *out.add_groups();
    each.set_group(clean_utf8(group.group));
    each.set_nodes(group.nodes);
    const auto sum = waiting.find(group.group);
    if (sum != waiting.end()) each.set_waiting(static_cast<int32_t>(sum->second.jobs));
  }
  out.set_at_us(to_micros(view.at));
  if (view.estimated_at) out.set_estimated_at_us(to_micros(*view.estimated_at));
  out.set_estimate_note(view.estimate_note);
}

// Those that stand out first, then by rank.
std::vector<const RankLine*> shown_ranks(const UsageLines& usage,
                                         const std::vector<StragglingRank>& stragglers,
                                         size_t limit) {
  std::vector<const RankLine*> shown;
  std::vector<bool> is_shown(usage.ranks.size());
  const auto show = [&](size_t rank) {
    if (shown.size() >= limit || is_shown[rank]) return;
    is_shown[rank] = true;
    shown.push_back(&usage.ranks[rank]);
  };
  for (const StragglingRank& straggler : stragglers) show(static_cast<size_t>(straggler.rank));
  for (size_t rank = 0; rank < usage.ranks.size(); ++rank) show(rank);
  return shown;
}

// What programs say is not for who sees a row of the job; how busy its GPUs are is.
UsageLines without_words(UsageLines usage) {
  for (RankLine& rank : usage.ranks) std::ranges::fill(rank.steps, -1);
  usage.metrics.clear();
  return usage;
}

void fill_usage(const UsageLines& usage, int limit, v1::JobUsage& out) {
  const std::vector<StragglingRank> stragglers = find_stragglers(usage.ranks);
  for (const RankLine* line : shown_ranks(usage, stragglers, static_cast<size_t>(limit))) {
    v1::RankUsage& rank = *out.add_ranks();
    rank.set_rank(line->rank);
    rank.set_node(line->node);
    for (int8_t percent : line->gpu_percent) rank.add_gpu_percent(percent);
    for (int64_t step : line->steps) rank.add_step(step);
    for (int8_t percent : line->gpu_memory_percent) rank.add_gpu_memory_percent(percent);
  }
  out.set_rank_count(static_cast<int>(usage.ranks.size()));
  out.set_attempt(usage.attempt);
  for (int attempt : usage.attempts) out.add_attempts(attempt);
  for (UnixTime at : usage.at) out.add_at_us(to_micros(at));
  for (const StragglingRank& straggler : stragglers) {
    if (out.stragglers_size() == limit) break;
    v1::Straggler& each = *out.add_stragglers();
    each.set_rank(straggler.rank);
    each.set_node(straggler.node);
    each.set_text(straggler.text);
  }
  if (const std::optional<double> seconds = seconds_per_step(usage)) {
    out.set_step_seconds(*seconds);
  }
  for (const auto& [name, line] : usage.metrics) {
    v1::JobMetric& metric = *out.add_metrics();
    metric.set_name(name);
    metric.set_rank(usage.metrics_rank);
    for (UnixTime at : line.at) metric.add_at_us(to_micros(at));
    metric.mutable_value()->Add(line.values.begin(), line.values.end());
  }
}

}  // namespace

Prepared<v1::Queue> OperationBodies::GetQueue(const v1::GetQueueRequest& message) {
  Result<QueueRequest> request = queue_request_of(message);
  if (!request.is_ok()) return request.status();
  return
      [this, request = std::move(request).value()](const Caller& caller, Answer<v1::Queue> answer) {
        parts_.queue.ask(caller, request, [this, answer](Result<QueueView> view) {
          if (!view.is_ok()) return answer(view.status());
          parts_.observatory.census().ask(
              [view = std::move(view).value(), answer](const CensusView& census) {
                answer(Fill<v1::Queue>([view, waiting = census.waiting_by_group](v1::Queue& reply) {
                  to_proto(view, waiting, reply);
                }));
              });
        });
      };
}

Prepared<v1::JobUsage> OperationBodies::GetJobUsage(const v1::GetJobUsageRequest& request) {
  if (request.attempt() < 0) return invalid_argument("attempt: is {}", request.attempt());
  Result<int> limit = page_size(request.page_size(), kRanksDefault, kRanksMax);
  if (!limit.is_ok()) return limit.status();
  return [this, job = request.job(), attempt = request.attempt(), limit = limit.value()](
             const Caller& caller, Answer<v1::JobUsage> answer) {
    parts_.queries.find_job(
        caller, job, [this, attempt, limit, answer](const Result<Queries::FoundJob>& found) {
          if (!found.is_ok()) return answer(found.status());
          UsageLines usage = parts_.observatory.usage().usage(found.value().job.id, attempt);
          if (found.value().seen < Seen::program) usage = without_words(std::move(usage));
          answer(Fill<v1::JobUsage>([usage = std::move(usage), limit](v1::JobUsage& reply) {
            fill_usage(usage, limit, reply);
          }));
        });
  };
}

}  // namespace hai
