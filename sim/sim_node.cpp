#include "sim/sim_node.h"

#include <algorithm>
#include <charconv>

namespace hai {
namespace {

int64_t number_of(const std::map<std::string, std::string>& environment, const std::string& name) {
  auto it = environment.find(name);
  int64_t value = 0;
  if (it != environment.end())
    std::from_chars(it->second.data(), it->second.data() + it->second.size(), value);
  return value;
}

constexpr std::string_view kCheckpointPrefix = "work:";

}  // namespace

std::map<std::string, std::string> ProgramModel::to_environment() const {
  return {{"SIM_WORK", std::to_string(work.count())},
          {"SIM_PERIOD", std::to_string(period.count())},
          {"SIM_SAVE", std::to_string(save.count())},
          {"SIM_OBEYS", obeys ? "1" : "0"},
          {"SIM_FAILS", std::to_string(fails_after.count())},
          {"SIM_UNEVEN", is_uneven ? "1" : "0"}};
}

ProgramModel ProgramModel::from_environment(const std::map<std::string, std::string>& environment) {
  return {.work = Duration(number_of(environment, "SIM_WORK")),
          .period = Duration(number_of(environment, "SIM_PERIOD")),
          .save = Duration(number_of(environment, "SIM_SAVE")),
          .obeys = number_of(environment, "SIM_OBEYS") == 1,
          .fails_after = Duration(number_of(environment, "SIM_FAILS")),
          .is_uneven = number_of(environment, "SIM_UNEVEN") == 1};
}

SimNode::SimNode(Timeline& timeline, Dice& dice, NodeFacts facts, uint64_t seed,
                 ProcessWatcher& watcher, const MachineClock* clock)
    : loop_(timeline, clock),
      facts_(std::move(facts)),
      dice_(dice),
      rng_(seed),
      hardware_(timeline, dice, facts_.name, clock, rng_.next()),
      watcher_(watcher) {}

SimNode::Process* SimNode::find_live(const RankKey& key) {
  auto it = processes_.find(key);
  return it == processes_.end() || it->second.status.phase == RankPhase::exited ? nullptr
                                                                                : &it->second;
}

int SimNode::live_processes() const {
  return static_cast<int>(std::ranges::count_if(processes_, [](const auto& entry) {
    return entry.second.status.phase != RankPhase::exited;
  }));
}

Duration SimNode::drawn(Source source, Duration low, Duration high) {
  return Duration(dice_.between(source, facts_.name, low.count(), high.count(), rng_));
}

std::vector<RankStatus> SimNode::adopt() {
  std::vector<RankStatus> statuses;
  for (const auto& [key, process] : processes_) statuses.push_back(process.status);
  return statuses;
}

void SimNode::launch(const LaunchRank& order, MonoTime lease_until) {
  if (processes_.contains(order.key)) return;
  Process& process = processes_[order.key];
  process.order = order;
  process.model = ProgramModel::from_environment(order.environments);
  process.status.key = order.key;
  if (process.model.is_uneven) {
    const auto ranks = static_cast<int64_t>(order.ranks.size());
    process.model.work = process.model.work * (ranks - order.key.rank) / ranks;
  }
  process.lease_until = lease_until;
  if (order.checkpoint.starts_with(kCheckpointPrefix)) {
    process.base_work = Duration(std::stoll(order.checkpoint.substr(kCheckpointPrefix.size())));
  }
  watcher_.process_started(facts_.name, order, lease_until - loop_.now());
  arm_lease(order.key);
  if (dice_.chance(Source::launch_fails, facts_.name, launch_failure_rate, rng_)) {
    loop_.call_after(20ms, [this, key = order.key] {
      end(key, ExitCause::launch_failed, 0, "simulated launch failure");
    });
    return;
  }
  const Duration soonest = std::min(Duration(1ms), start_max);
  loop_.call_after(drawn(Source::launch, soonest, start_max),
                   [this, key = order.key] { run(key); });
}

void SimNode::run(const RankKey& key) {
  Process* process = find_live(key);
  if (process == nullptr || process->status.phase == RankPhase::running) return;
  process->status.phase = RankPhase::running;
  process->status.started_at = loop_.wall_now();
  process->status.uses_sdk = process->model.obeys;
  process->running_since = loop_.now();
  if (process->order.is_validation) {
    process->finish_timer =
        loop_.call_after(drawn(Source::program, 1s, 60s), [this, key] { finish_validation(key); });
    return tell(process->status);
  }
  arm_finish(*process);
  if (process->model.period > 0s && key.rank == 0) arm_checkpoint(key);
  tell(process->status);
}

void SimNode::arm_finish(Process& process) {
  const ProgramModel& model = process.model;
  const RankKey& key = process.order.key;
  const bool fails = model.fails_after > 0s && key.rank == 0;
  const Duration until = fails ? std::min(model.fails_after, model.work) : model.work;
  const Duration left = std::max(Duration(1ms), (until - process.base_work) / program_speed_);
  loop_.cancel(process.finish_timer);
  process.finish_timer =
      loop_.call_after(left, [this, key, fails] { end(key, ExitCause::program, fails ? 1 : 0); });
}

void SimNode::set_program_speed(int speed) {
  for (auto& [key, process] : processes_) process.base_work = work_done(process);
  program_speed_ = speed;
  for (auto& [key, process] : processes_) {
    if (process.status.phase != RankPhase::running || process.order.is_validation) continue;
    process.running_since = loop_.now();
    arm_finish(process);
  }
}

void SimNode::finish_validation(const RankKey& key) {
  Process* process = find_live(key);
  if (process == nullptr) return;
  const bool fails = dice_.chance(Source::program, facts_.name, 0.2, rng_);
  process->status.measurements = {
      {.test = "gemm",
       .metric = "fp16",
       .unit = "TFLOPS",
       .value = static_cast<double>(drawn(Source::program, Duration(95), Duration(105)).count()),
       .verdict = fails ? CheckVerdict::fail : CheckVerdict::ok,
       .detail = fails ? "simulated" : ""}};
  end(key, ExitCause::program, fails ? 1 : 0);
}

Duration SimNode::work_done(const Process& process) const {
  if (process.status.phase != RankPhase::running) return process.base_work;
  const Duration done = (loop_.now() - process.running_since) * program_speed_;
  return std::min(process.model.work, process.base_work + done);
}

void SimNode::checkpoint(Process& process) {
  Duration done = work_done(process);
  process.status.checkpoint =
      CheckpointInfo{.step = done.count() / 1'000'000,
                     .path = std::string(kCheckpointPrefix) + std::to_string(done.count()),
                     .save_seconds = 1,
                     .at = loop_.wall_now()};
  process.status.progress_step = done.count() / 1'000'000;
}

void SimNode::arm_checkpoint(const RankKey& key) {
  Process& process = processes_.at(key);
  process.checkpoint_timer = loop_.call_after(process.model.period, [this, key] {
    Process* live = find_live(key);
    if (live == nullptr) return;
    checkpoint(*live);
    tell(live->status);
    arm_checkpoint(key);
  });
}

void SimNode::arm_lease(const RankKey& key) {
  Process& process = processes_.at(key);
  process.lease_timer = loop_.call_after(process.lease_until - loop_.now(), [this, key] {
    Process* live = find_live(key);
    if (live == nullptr) return;
    if (loop_.now() < live->lease_until) return arm_lease(key);
    end(key, ExitCause::fenced, 137);
  });
}

void SimNode::suspend(const SuspendRank& order) {
  const RankKey& key = order.key;
  const Duration grace = order.grace;
  Process* process = find_live(key);
  if (process == nullptr || process->status.suspend_notified) return;
  process->status.suspend_notified = true;
  if (process->was_told) return tell(process->status);
  // Half of the programs that do not use the SDK catch the signal, or die of it.
  const bool is_told = order.tell_by_signal && !process->status.uses_sdk &&
                       process->status.phase == RankPhase::running && process->model.save < grace;
  if (is_told && dice_.chance(Source::program, facts_.name, 0.5, rng_)) {
    process->was_told = true;
    process->leave_timer =
        loop_.call_after(process->model.save, [this, key] { end(key, ExitCause::left, 143); });
    return tell(process->status);
  }
  bool saves_in_time = process->model.obeys && process->model.save < grace &&
                       process->status.phase == RankPhase::running;
  if (saves_in_time) {
    process->leave_timer = loop_.call_after(process->model.save, [this, key] {
      Process* live = find_live(key);
      if (live == nullptr) return;
      if (key.rank == 0) checkpoint(*live);
      end(key, ExitCause::go_suspend, 0);
    });
  } else {
    process->leave_timer = loop_.call_after(grace + drawn(Source::program, 0s, 5s),
                                            [this, key] { end(key, ExitCause::grace_over, 137); });
  }
  tell(process->status);
}

void SimNode::resume(const RankKey& key) {
  Process* process = find_live(key);
  if (process == nullptr || !process->status.suspend_notified) return;
  process->status.suspend_notified = false;
  if (!process->was_told) loop_.cancel(std::exchange(process->leave_timer, 0));
  tell(process->status);
}

void SimNode::kill(const RankKey& key) {
  Process* process = find_live(key);
  if (process == nullptr || process->kill_timer != 0) return;
  const Duration soonest = std::min(Duration(1ms), kill_max);
  const Duration delay = process->model.obeys ? drawn(Source::program, soonest, kill_max) : 5s;
  process->kill_timer = loop_.call_after(delay, [this, key] { end(key, ExitCause::killed, 137); });
}

void SimNode::forget(const RankKey& key) { processes_.erase(key); }

void SimNode::extend_leases(MonoTime until) {
  for (auto& [key, process] : processes_)
    process.lease_until = std::max(process.lease_until, until);
}

void SimNode::end(const RankKey& key, ExitCause cause, int exit_code, const std::string& message) {
  Process* process = find_live(key);
  if (process == nullptr) return;
  for (TimerId timer : {process->finish_timer, process->checkpoint_timer, process->leave_timer,
                        process->kill_timer, process->lease_timer}) {
    loop_.cancel(timer);
  }
  process->status.phase = RankPhase::exited;
  process->status.cause = cause;
  process->status.exit_code = exit_code;
  process->status.message = message;
  process->status.ended_at = loop_.wall_now();
  watcher_.process_ended(facts_.name, process->status);
  tell(process->status);
}

void SimNode::tell(const RankStatus& status) {
  if (listener) listener(status);
}

void SimNode::crash() {
  std::vector<RankKey> keys;
  for (const auto& [key, process] : processes_) keys.push_back(key);
  listener = nullptr;
  if (record) record = AgentRecord{.seen = record->seen, .seen_proof = record->seen_proof};
  facts_.boot_id = "boot-" + std::to_string(++boots_);
  hardware_.restarted();
  for (const RankKey& key : keys) end(key, ExitCause::lost, 0, "the node went down");
}

void SimNode::crash_one_shim() {
  for (const auto& [key, process] : processes_) {
    if (process.status.phase == RankPhase::exited) continue;
    end(RankKey(key), ExitCause::lost, 0, "its shim was killed");
    return;
  }
}

}  // namespace hai
