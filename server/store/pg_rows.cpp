#include "server/store/pg_rows.h"

#include <algorithm>

#include "server/store/json_codec.h"
#include "server/store/pg_cells.h"

namespace hai {

const char* const kJobColumns =
    "id, user_name, priority, state, held, hold_reason, stop_requested, request_id, submitted_at,"
    " started_at, ended_at, exit_code, end_reason, suspend_count, requeue_count, launch_failures,"
    " failure_restarts, lost_gpu_seconds, spec, rest, attempt";

const char* const kAttemptColumns =
    "a.job, a.number, a.state, a.priority, a.master_port, a.exclusive, a.jumper, a.placed_at, "
    "a.running_at,"
    " a.ended_at, a.suspend_deadline, a.suspended_for, a.suspend_reason, a.ending";

const char* const kRankColumns =
    "r.job, r.attempt, r.rank, r.node, r.gpus, r.state, r.cause, r.exit_code, r.message";

const char* const kEventColumns = "seq, time, actor, kind, body";

namespace {

template <typename Cells>
Job read_job(Cells& cells) {
  Job job;
  cells.read(job.id);
  cells.read(job.user);
  cells.read(job.priority);
  cells.read(job.state);
  cells.read(job.held);
  cells.read(job.hold_reason);
  cells.read(job.stop_requested);
  cells.read(job.request_id);
  cells.read(job.submitted_at);
  cells.read(job.started_at);
  cells.read(job.ended_at);
  cells.read(job.exit_code);
  cells.read(job.end_reason);
  cells.read(job.counters.suspend_count);
  cells.read(job.counters.requeue_count);
  cells.read(job.launch_failures);
  cells.read(job.failure_restarts);
  cells.read(job.counters.lost_gpu_seconds);
  job.spec = std::make_shared<const JobSpec>(cells.parsed(job_spec_from_json));
  if (Status status = job_rest_from_json(cells.text(), job); !status.is_ok()) {
    throw PgError(fmt::format("job {}: {}", job.id.value, status.message()));
  }
  return job;
}

}  // namespace

Job job_from_row(const PgResult& rows, int row) {
  PgCells cells(rows, row);
  return read_job(cells);
}

Job job_from_cells(PgBinaryCells& cells, int& attempt) {
  Job job = read_job(cells);
  cells.read(attempt);
  return job;
}

int attempt_number(const PgResult& rows, int row) {
  return static_cast<int>(rows.integer(row, column_count(kJobColumns) - 1));
}

int column_count(std::string_view columns) {
  return static_cast<int>(std::ranges::count(columns, ',')) + 1;
}

JobId attempt_job(const PgResult& rows, int row) { return {rows.integer(row, 0)}; }

Attempt attempt_from_row(const PgResult& rows, int row) {
  PgCells cells(rows, row, 1);
  Attempt attempt;
  cells.read(attempt.number);
  cells.read(attempt.state);
  cells.read(attempt.priority);
  cells.read(attempt.master_port);
  cells.read(attempt.exclusive);
  cells.read(attempt.jumper);
  cells.read(attempt.placed_at);
  cells.read(attempt.running_at);
  cells.read(attempt.ended_at);
  cells.read(attempt.suspend_deadline);
  cells.read(attempt.suspended_for);
  cells.read(attempt.suspend_reason);
  std::optional<std::string> ending;
  cells.read(ending);
  if (ending) {
    Result<AttemptEnd> end = attempt_end_from_json(*ending);
    if (!end.is_ok()) throw PgError(end.status().message());
    attempt.end = std::move(end).value();
  }
  return attempt;
}

RankRow rank_from_row(const PgResult& rows, int row) {
  PgCells cells(rows, row);
  RankRow out;
  cells.read(out.job);
  cells.read(out.attempt);
  cells.read(out.number);
  cells.read(out.rank.place.node);
  cells.read(out.rank.place.gpus);
  cells.read(out.rank.state);
  cells.read(out.rank.cause);
  cells.read(out.rank.exit_code);
  cells.read(out.rank.message);
  return out;
}

void add_rank(RankRow row, Attempt& attempt) {
  if (row.number != static_cast<int>(attempt.ranks.size())) {
    throw PgError(fmt::format("job {} attempt {}: rank {} follows {} ranks", row.job.value,
                              row.attempt, row.number, attempt.ranks.size()));
  }
  attempt.ranks.push_back(std::move(row.rank));
}

Event event_from_row(const PgResult& rows, int row) {
  PgCells cells(rows, row);
  Event event;
  cells.read(event.seq);
  cells.read(event.time);
  cells.read(event.actor);
  const std::string_view kind = cells.text();
  Result<EventBody> body = event_body_from_json(kind, cells.text());
  if (!body.is_ok()) {
    throw PgError(fmt::format("event {}: {}", event.seq, body.status().message()));
  }
  event.body = std::move(body).value();
  return event;
}

std::string row_subject(JobId job) { return fmt::format("job/{}", job.value); }
std::string row_subject(NodeId node) { return fmt::format("node/{}", node.value); }

std::string row_subject(const EventBody& body) {
  if (JobId job = job_of(body)) return row_subject(job);
  if (NodeId node = node_of(body)) return row_subject(node);
  if (const auto* set = std::get_if<UserSet>(&body)) return "user/" + set->user.name;
  if (const auto* set = std::get_if<QuotaSet>(&body)) return "quota/" + set->quota.owner;
  if (const auto* removed = std::get_if<QuotaRemoved>(&body)) {
    return "quota/" + removed->quota.owner;
  }
  if (const auto* set = std::get_if<TokenSet>(&body)) return "user/" + set->token.user;
  return std::visit(
      [](const auto& event) -> std::string {
        if constexpr (requires { event.incident; }) {
          return fmt::format("incident/{}", event.incident.value);
        } else {
          return "";
        }
      },
      body);
}

}  // namespace hai
