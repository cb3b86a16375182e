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
    nodes_[i].connection = ConnectionId{static_cast<int64_t>(i) + 1};
    nodes_[i].boot_id = cluster_.nodes[i].boot_id;
    controller.agent_connected(nodes_[i].connection, cluster_.nodes[i].name);
    report_all(static_cast<int>(i), cluster_.nodes[i]);
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
  Duration restart = progress.has_run ? model_of(job).restart : Duration{0};
  return kLaunchDelay + restart + jobs_[job].work - progress.safe;
}

JobModel Fleet::model_of(int job) const {
  if (options_.model) return options_.model(job);
  return job_model(options_.seed, job, options_.saves_when_asked);
}

// The connections of a node are its number and then one more round each.
void Fleet::send(ConnectionId connection, const AgentOrder& order) {
  const auto node = static_cast<int>((connection.value - 1) % std::ssize(nodes_));
  if (!nodes_[node].is_connected || nodes_[node].connection != connection) return;
  std::visit([&](const auto& body) { on(node, body); }, order.body);
}

void Fleet::close(ConnectionId, const std::string&) {}

void Fleet::on(int node, const LaunchRank& order) {
  if (find_status(node, order.key) != nullptr) return;
  add_status(node, order.key);
  if (order.is_validation) return begin_validation(node, order.key);
  JobId id = order.key.job;
  auto [found, is_new] = runs_.try_emplace(id);
  Run& run = found->second;
  if (is_new) {
    run.job = job_of(order.job_name);
    run.attempt = order.key.attempt;
    run.size = order.ranks.size();
    run.model = model_of(run.job);
    run.launched_at = loop_.now();
    run.done = run.safe = progress_[run.job].safe;
    run.ranks.reserve(run.size);
    arm(id, run, kLaunchDelay);
  }
  CHECK(run.attempt == order.key.attempt);
  run.ranks.push_back({node, order.key.rank, order.gpus});
  if (nodes_[node].outages == 0) return;
  stop_working(run);
  run.phase = Phase::stalled;
  end_rank(id, run, run.ranks.back(), ExitCause::lost, "its node is down");
  close_run_if_gone(id);
}

// As an agent does with a rank that it has not: it stays away.
bool Fleet::keeps_away(int node, const RankKey& key) {
  if (find_status(node, key) != nullptr) return false;
  RankStatus& status = add_status(node, key);
  status.phase = RankPhase::exited;
  status.cause = ExitCause::killed;
  mark(node);
  return true;
}

void Fleet::on(int node, const SuspendRank& order) {
  if (keeps_away(node, order.key)) return;
  if (end_validation(order.key, ExitCause::grace_over, kEndsWhenAsked)) return;
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
  if (keeps_away(node, order.key)) return;
  if (end_validation(order.key, ExitCause::killed, kEndsWhenAsked)) return;
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

}  // namespace hai
