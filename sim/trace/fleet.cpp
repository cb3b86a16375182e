#include "sim/trace/fleet.h"

#include <algorithm>
#include <charconv>

#include "common/check.h"

namespace hai {
namespace {

// A program that saves when asked also ends when asked; the others need SIGKILL.
constexpr Duration kEndsWhenAsked = 1s;
constexpr Duration kKilled = 5s;

}  // namespace

Fleet::Fleet(Timeline& timeline, const TraceCluster& cluster, const std::vector<TraceJob>& jobs,
             FleetOptions options, std::function<void(const RunEnded&)> run_ended)
    : loop_(timeline),
      cluster_(cluster),
      jobs_(jobs),
      options_(options),
      run_ended_(std::move(run_ended)),
      nodes_(cluster.nodes.size()),
      progress_(jobs.size()) {}

void Fleet::connect(Controller& controller) {
  controller_ = &controller;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    ConnectionId connection{static_cast<int64_t>(i) + 1};
    const NodeFacts& facts = cluster_.nodes[i];
    controller.agent_connected(connection, facts.name);
    controller.agent_report(connection,
                            {.node = facts.name, .sequence = ++nodes_[i].sequence, .facts = facts});
  }
  if (options_.report_period > Duration{0})
    loop_.call_after(options_.report_period, [this] { gather_reports(); });
}

std::string Fleet::name_of(int job) { return "t" + std::to_string(job); }

int Fleet::job_of(const std::string& name) {
  int job = -1;
  std::from_chars(name.data() + 1, name.data() + name.size(), job);
  return job;
}

Duration Fleet::time_left(int job) const {
  const Progress& progress = progress_[job];
  Duration restart = progress.has_run
                         ? job_model(options_.seed, job, options_.saves_when_asked).restart
                         : Duration{0};
  return kLaunchDelay + restart + jobs_[job].work - progress.safe;
}

// ---- orders

void Fleet::send(ConnectionId connection, const AgentOrder& order) {
  std::visit([&](const auto& body) { on(static_cast<int>(connection.value - 1), body); },
             order.body);
}

void Fleet::close(ConnectionId, const std::string&) {}

void Fleet::on(int node, const LaunchRank& order) {
  if (find_status(node, order.key) != nullptr) return;
  add_status(node, order.key);
  JobId id = order.key.job;
  auto [found, is_new] = runs_.try_emplace(id);
  Run& run = found->second;
  if (is_new) {
    run.job = job_of(order.job_name);
    run.attempt = order.key.attempt;
    run.size = order.ranks.size();
    run.model = job_model(options_.seed, run.job, options_.saves_when_asked);
    run.launched_at = loop_.now();
    run.done = run.safe = progress_[run.job].safe;
    run.ranks.reserve(run.size);
    arm(id, run, kLaunchDelay);
  }
  CHECK(run.attempt == order.key.attempt);
  run.ranks.push_back({node, order.key.rank});
  if (nodes_[node].outages == 0) return;
  stop_working(run);
  run.phase = Phase::stalled;
  end_rank(id, run, run.ranks.back(), ExitCause::lost, "its node is down");
  close_run_if_gone(id);
}

void Fleet::on(int, const SuspendRank& order) {
  Run* run = find_run(order.key);
  if (run == nullptr || run->phase != Phase::working) return;
  run->was_asked = true;
  run->asked_at = loop_.now();
  if (run->model.saves_when_asked && run->model.save < order.grace) {
    stop_working(*run);
    run->phase = Phase::saving;
    arm(order.key.job, *run, run->model.save);
  } else {
    // It works on, and may even come to its end.
    run->phase = Phase::in_grace;
    Duration left = *run->works_from - loop_.now() + jobs_[run->job].work - run->done;
    if (left > order.grace) arm(order.key.job, *run, order.grace);
  }
  for_live_ranks(order.key.job, *run, [](RankStatus& status) { status.suspend_notified = true; });
}

void Fleet::on(int, const ContinueRank& order) {
  Run* run = find_run(order.key);
  if (run == nullptr || (run->phase != Phase::saving && run->phase != Phase::in_grace)) return;
  if (run->phase == Phase::saving) {
    run->switching += loop_.now() - run->asked_at;
    run->works_from = loop_.now();
  }
  run->phase = Phase::working;
  run->was_asked = false;
  arm_finish(order.key.job, *run);
  for_live_ranks(order.key.job, *run, [](RankStatus& status) { status.suspend_notified = false; });
}

void Fleet::on(int node, const KillRank& order) {
  if (find_status(node, order.key) == nullptr) {
    RankStatus& status = add_status(node, order.key);
    status.phase = RankPhase::exited;
    status.cause = ExitCause::killed;
    return mark(node);
  }
  Run* run = find_run(order.key);
  if (run == nullptr || run->phase == Phase::killing) return;
  stop_working(*run);
  run->phase = Phase::killing;
  arm(order.key.job, *run, run->model.saves_when_asked ? kEndsWhenAsked : kKilled);
}

void Fleet::on(int node, const ForgetRank& order) {
  auto count = std::erase_if(nodes_[node].ranks, [&](const RankStatus& status) {
    return status.key == order.key && status.phase == RankPhase::exited;
  });
  if (count > 0) nodes_[node].has_forgotten = true;
}

// ---- runs

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
  // All launches of a gang are ordered in one turn.
  CHECK(run.ranks.size() == run.size);
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

void Fleet::end_rank(JobId id, Run& run, RankRef& rank, ExitCause cause,
                     const std::string& message) {
  rank.is_live = false;
  RankStatus& status = *find_status(rank.node, {id, run.attempt, rank.rank});
  status.phase = RankPhase::exited;
  status.cause = cause;
  status.exit_code = cause == ExitCause::program || cause == ExitCause::go_suspend ? 0 : 137;
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
  bool is_gone = run.ranks.size() == run.size && std::ranges::none_of(run.ranks, &RankRef::is_live);
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
    if (nodes_[node].has_forgotten) mark(static_cast<int>(node));
  }
  loop_.call_after(options_.report_period, [this] { gather_reports(); });
}

}  // namespace hai
