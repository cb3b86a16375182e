// Fleet, the part about runs: how they begin, save, end and what they lose.

#include <algorithm>

#include "common/check.h"
#include "sim/trace/fleet.h"

namespace hai {

Fleet::Run* Fleet::find_run(const RankKey& key) {
  auto found = runs_.find(key.job);
  return found == runs_.end() || found->second.attempt != key.attempt ? nullptr : &found->second;
}

void Fleet::arm(JobId id, Run& run, Duration delay) {
  loop_.cancel(run.timer);
  run.timer = loop_.call_after(delay, [this, id] { timer_fired(id); });
}

void Fleet::timer_fired(JobId id) {
  Run& run = runs_.at(id);
  run.timer = 0;
  switch (run.phase) {
    case Phase::launching:
      return start_working(id, run);
    case Phase::working:
      return end_ranks(id, ExitCause::program);
    case Phase::in_grace: {
      bool is_over = *run.works_from + (jobs_[run.job].work - run.done) <= loop_.now();
      return end_ranks(id, is_over ? ExitCause::program : ExitCause::grace_over);
    }
    case Phase::saving:
      run.safe = run.done;
      run.switching += loop_.now() - run.asked_at;
      return end_ranks(id, ExitCause::go_suspend);
    case Phase::killing:
      return end_ranks(id, ExitCause::killed);
    case Phase::stalled:
      return;
  }
}

void Fleet::start_working(JobId id, Run& run) {
  // All launches of a gang are ordered in one turn; a node that fell silent in it has got none, and
  // the others wait for its rank until they are killed.
  if (run.ranks.size() < run.size) {
    CHECK(options_.machines != nullptr);
    run.phase = Phase::stalled;
    return;
  }
  run.phase = Phase::working;
  bool comes_back = progress_[run.job].has_run;
  run.works_from = loop_.now() + (comes_back ? run.model.restart : Duration{0});
  run.first_work = run.works_from;
  arm_finish(id, run);
  for_live_ranks(id, run, [now = loop_.wall_now()](RankStatus& status) {
    status.phase = RankPhase::running;
    status.started_at = now;
  });
}

void Fleet::arm_finish(JobId id, Run& run) {
  arm(id, run, *run.works_from - loop_.now() + (jobs_[run.job].work - run.done));
}

int64_t Fleet::checkpoints_since(const Run& run) const {
  if (!run.works_from || loop_.now() <= *run.works_from) return 0;
  return (loop_.now() - *run.works_from) / run.model.checkpoint_period;
}

void Fleet::stop_working(Run& run) {
  if (!run.works_from) return;
  note_checkpoint(run);
  if (int64_t count = checkpoints_since(run); count > 0)
    run.safe = run.done + count * run.model.checkpoint_period;
  run.done = std::min(jobs_[run.job].work,
                      run.done + std::max(Duration{0}, loop_.now() - *run.works_from));
  run.works_from.reset();
  run.checkpoints_reported = 0;
}

void Fleet::for_live_ranks(JobId id, Run& run, const std::function<void(RankStatus&)>& change) {
  for (const RankRef& rank : run.ranks) {
    if (!rank.is_live) continue;
    change(*find_status(rank.node, {id, run.attempt, rank.rank}));
    mark(rank.node);
  }
}

void Fleet::end_ranks(JobId id, ExitCause cause) {
  Run& run = runs_.at(id);
  stop_working(run);
  if (cause == ExitCause::program) run.safe = run.done;
  for (RankRef& rank : run.ranks) {
    if (rank.is_live) end_rank(id, run, rank, cause, "");
  }
  close_run_if_gone(id);
}

void Fleet::end_rank(JobId id, Run& run, RankRef& rank, ExitCause cause, const std::string& message,
                     int exit_code) {
  rank.is_live = false;
  RankStatus& status = *find_status(rank.node, {id, run.attempt, rank.rank});
  status.phase = RankPhase::exited;
  status.cause = cause;
  const bool is_its_own = cause == ExitCause::program || cause == ExitCause::go_suspend;
  status.exit_code = is_its_own ? exit_code : 137;
  status.message = message;
  status.ended_at = loop_.wall_now();
  if (cause == ExitCause::go_suspend && rank.rank == 0) {
    run.checkpoint = {.step = run.safe.count() / 1'000'000,
                      .path = "asked",
                      .save_seconds = static_cast<double>(run.model.save.count()) / 1e6,
                      .at = loop_.wall_now()};
  }
  if (rank.rank == 0) status.checkpoint = run.checkpoint;
  mark(rank.node);
}

void Fleet::close_run_if_gone(JobId id) {
  Run& run = runs_.at(id);
  const bool has_all = run.ranks.size() == run.size || run.phase == Phase::killing;
  bool is_gone = has_all && std::ranges::none_of(run.ranks, &RankRef::is_live);
  if (!is_gone) return;
  loop_.cancel(run.timer);
  Progress& progress = progress_[run.job];
  // Only who was asked to leave comes back at the expense of somebody's turn.
  if (progress.was_asked) {
    run.switching += std::min(run.first_work.value_or(loop_.now()), loop_.now()) - run.launched_at;
  }
  run_ended_({.job = run.job,
              .lost = run.done - run.safe,
              .switching = run.switching,
              .was_asked = run.was_asked});
  progress = {.safe = run.safe,
              .has_run = progress.has_run || run.first_work.has_value(),
              .was_asked = run.was_asked};
  runs_.erase(id);
}

// ---- checkpoints

// The latest one, as the server will see it in the next report of rank 0's node.
void Fleet::note_checkpoint(Run& run) {
  int64_t count = checkpoints_since(run);
  if (count <= run.checkpoints_reported) return;
  run.checkpoints_reported = count;
  Duration since_then = loop_.now() - (*run.works_from + count * run.model.checkpoint_period);
  Duration work = run.done + count * run.model.checkpoint_period;
  run.checkpoint = {.step = work.count() / 1'000'000,
                    .path = "periodic",
                    .save_seconds = static_cast<double>(run.model.save.count()) / 1e6,
                    .at = loop_.wall_now() - since_then};
}

// What can wait: a report per checkpoint would be most of the replay's work, so what a server knows
// of a checkpoint is up to report_period old here. And a node that has forgotten ranks says so some
// time, as with a heartbeat.
void Fleet::gather_reports() {
  for (auto& [id, run] : runs_) {
    if (checkpoints_since(run) <= run.checkpoints_reported) continue;
    note_checkpoint(run);
    const RankRef& first = run.ranks.front();
    if (!first.is_live) continue;
    find_status(first.node, {id, run.attempt, first.rank})->checkpoint = run.checkpoint;
    mark(first.node);
  }
  for (size_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].has_forgotten && nodes_[node].is_connected) mark(static_cast<int>(node));
  }
  loop_.call_after(options_.report_period, [this] { gather_reports(); });
}

}  // namespace hai
