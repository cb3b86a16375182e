#include "agent/health/health_monitor.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "agent/health/merge_results.h"
#include "agent/health/results.h"
#include "common/check.h"

namespace hai {

namespace {

constexpr Duration kStartSpread = 100ms;
constexpr Duration kPatienceAtEnd = 1s;
constexpr size_t kClearedMax = 256;

// Nothing that a library throws ends the agent.
std::vector<CheckResult> run_checked(Check& check, const CheckInput& input,
                                     std::optional<CheckMemory>& memory) {
  try {
    std::vector<CheckResult> results = check.run(input);
    memory = check.memory();
    return results;
  } catch (const std::exception& error) {
    return {make_unknown({check.name(), "", {}},
                         {.summary = fmt::format("broke off: {}", error.what()),
                          .remedy = "report it: a check should never do this"})};
  }
}

CheckResult make_stuck(const std::string& check, Duration silence) {
  return make_fail({.name = "check_stuck", .subject = check, .gpus = {}}, HealthTier::validate,
                   {.summary = fmt::format("has not ended for {}: what it asks is stuck",
                                           format_duration(silence)),
                    .remedy = "reboot: a driver or the kernel is stuck"});
}

}  // namespace

struct HealthMonitor::Slot {
  std::shared_ptr<Check> check;
  std::vector<CheckResult> results;
  std::vector<ClearedFault> cleared;
  bool is_running = false;
  bool is_hanging = false;  // running, and past its deadline
  bool is_wanted_again = false;
  Duration silence{0};  // how long it hangs, by the loop's timers
  TimerId next = 0;
  TimerId deadline = 0;
};

// What the threads of checks know of the monitor: a way in that is shut when it goes.
struct HealthMonitor::Door {
  std::mutex mutex;
  std::condition_variable left;
  Loop* loop = nullptr;  // null = shut
  int working = 0;       // without those that hang
  bool is_open = true;   // on the loop's thread: the monitor is still there
};

bool HealthMonitor::start_thread(std::function<void()> work) {
  try {
    std::thread(std::move(work)).detach();
    return true;
  } catch (const std::system_error&) {  // As many threads as the system allows.
    return false;
  }
}

HealthMonitor::HealthMonitor(Loop& loop, std::vector<std::unique_ptr<Check>> checks,
                             StartWork start_work)
    : loop_(loop), start_work_(std::move(start_work)), door_(std::make_shared<Door>()) {
  door_->loop = &loop;
  for (std::unique_ptr<Check>& check : checks) {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->check = std::move(check);
  }
}

HealthMonitor::~HealthMonitor() {
  for (const auto& slot : slots_) {
    loop_.cancel(slot->next);
    loop_.cancel(slot->deadline);
  }
  door_->is_open = false;
  std::unique_lock lock(door_->mutex);
  door_->loop = nullptr;
  door_->left.wait_for(lock, kPatienceAtEnd, [this] { return door_->working <= 0; });
}

void HealthMonitor::keep_at(const std::string& path, const std::string& boot_id, Keeping keeping) {
  keeper_.open(path, boot_id, keeping, start_work_);
  for (const auto& slot : slots_) {
    const CheckRecord& known = keeper_.known_of(slot->check->name());
    slot->check->restore(known.memory);
    slot->results = known.faults;
  }
  merge();
}

// As they are shown: with the times at which they became so.
std::vector<CheckResult> HealthMonitor::faults_of(const Slot& slot) const {
  std::vector<CheckResult> faults;
  for (const CheckResult& result : slot.results) {
    const auto shown = std::find_if(results_.begin(), results_.end(), [&](const CheckResult& r) {
      return r.name == result.name && r.subject == result.subject;
    });
    if (result.verdict != CheckVerdict::fail) continue;
    faults.push_back(shown == results_.end() ? result : *shown);
  }
  return faults;
}

std::vector<CheckResult> HealthMonitor::stuck_now() const {
  std::vector<CheckResult> stuck;
  for (const auto& slot : slots_) {
    if (!slot->is_hanging) continue;
    stuck.push_back(make_stuck(slot->check->name(), slot->silence));
    stuck.back().at = loop_.wall_now();
  }
  return stuck;
}

void HealthMonitor::start() {
  is_started_ = true;
  Duration delay{0};
  for (const auto& slot : slots_) {
    schedule(*slot, delay);
    delay += kStartSpread;
  }
}

void HealthMonitor::run_once(std::function<void()> done) {
  on_round_end_ = std::move(done);
  for (const auto& slot : slots_) begin(*slot);
  finish_round();
}

void HealthMonitor::clear(const std::string& name, const std::string& subject, UnixTime at) {
  for (const auto& slot : slots_) {
    const bool said_it =
        std::any_of(slot->results.begin(), slot->results.end(),
                    [&](const CheckResult& r) { return r.name == name && r.subject == subject; });
    if (!said_it || slot->cleared.size() >= kClearedMax) continue;
    slot->cleared.push_back({name, subject, at});
    begin(*slot);
  }
}

void HealthMonitor::schedule(Slot& slot, Duration delay) {
  loop_.cancel(slot.next);
  slot.next = loop_.call_after(delay, [this, &slot] { begin(slot); });
}

void HealthMonitor::begin(Slot& slot) {
  if (slot.is_running) {
    slot.is_wanted_again = true;
    return;
  }
  slot.is_running = true;
  slot.is_wanted_again = false;
  if (is_started_) schedule(slot, slot.check->period());
  slot.deadline =
      loop_.call_after(slot.check->deadline(), [this, &slot] { give_up_waiting(slot); });
  {
    const std::lock_guard lock(door_->mutex);
    ++door_->working;
  }
  CheckInput input{.now = loop_.now(),
                   .wall_now = loop_.wall_now(),
                   .use = use_,
                   .cleared = std::exchange(slot.cleared, {})};
  const bool is_begun =
      start_work_([this, &slot, door = door_, check = slot.check, input = std::move(input)] {
        std::optional<CheckMemory> memory;
        std::vector<CheckResult> found = run_checked(*check, input, memory);
        const std::lock_guard lock(door->mutex);
        --door->working;
        door->left.notify_all();
        if (door->loop == nullptr) return;
        door->loop->post(
            [this, &slot, door, found = std::move(found), memory = std::move(memory)]() mutable {
              if (door->is_open) end(slot, std::move(found), std::move(memory));
            });
      });
  if (is_begun) return;
  loop_.cancel(slot.deadline);
  slot.is_running = false;
  {
    const std::lock_guard lock(door_->mutex);
    --door_->working;
  }
  say_unknown(slot, {.summary = "could not be started",
                     .remedy = "look why the node cannot start threads"});
}

void HealthMonitor::end(Slot& slot, std::vector<CheckResult> results,
                        std::optional<CheckMemory> memory) {
  loop_.cancel(slot.deadline);
  const bool was_hanging = std::exchange(slot.is_hanging, false);
  slot.is_running = false;
  if (was_hanging) {
    // What it had found stands until it is asked anew, but not that it is stuck.
    std::erase_if(slot.results, [](const CheckResult& r) { return r.name == "check_stuck"; });
    // It is over, but tells of some past time; it is counted as working again by nobody.
    const std::lock_guard lock(door_->mutex);
    ++door_->working;
  } else {
    slot.results = std::move(results);
    merge();
    keeper_.note(slot.check->name(), faults_of(slot), std::move(memory));
  }
  if (was_hanging || slot.is_wanted_again) begin(slot);
  finish_round();
}

void HealthMonitor::give_up_waiting(Slot& slot) {
  slot.is_hanging = true;
  {
    const std::lock_guard lock(door_->mutex);
    --door_->working;
  }
  slot.silence = slot.check->deadline();
  say_unknown(slot, {.summary = fmt::format("did not end within {}",
                                            format_duration(slot.check->deadline())),
                     .remedy = "look which driver or file system hangs; reboot if it stays"});
  wait_on(slot);
  finish_round();
}

// Counted in steps rather than by the clock: a machine that slept for an hour has not waited for
// it.
void HealthMonitor::wait_on(Slot& slot) {
  slot.deadline = loop_.call_after(slot.check->deadline(), [this, &slot] {
    slot.silence += slot.check->deadline();
    if (slot.silence < kStuckAfter) {
      wait_on(slot);
    } else {
      say_stuck(slot);
    }
  });
}

void HealthMonitor::say_stuck(Slot& slot) {
  slot.results.push_back(make_stuck(slot.check->name(), kStuckAfter));
  merge();
}

void HealthMonitor::say_unknown(Slot& slot, const CheckFinding& finding) {
  for (CheckResult& result : slot.results) {
    if (result.verdict == CheckVerdict::fail) continue;
    result = make_unknown({result.name, result.subject, result.gpus}, finding);
  }
  const bool is_silent = slot.results.empty();
  if (is_silent) slot.results.push_back(make_unknown({slot.check->name(), "", {}}, finding));
  merge();
}

void HealthMonitor::merge() {
  std::vector<CheckResult> all;
  for (const auto& slot : slots_) {
    all.insert(all.end(), slot->results.begin(), slot->results.end());
  }
  if (std::optional<CheckResult> complaint = keeper_.complaint()) all.push_back(*complaint);
  results_ = merge_results(std::move(all), results_, loop_.wall_now());
  const uint64_t digest = digest_of(results_);
  if (std::exchange(digest_, digest) != digest && on_change_) on_change_();
}

void HealthMonitor::finish_round() {
  const bool is_over = std::all_of(slots_.begin(), slots_.end(), [](const auto& slot) {
    return !slot->is_running || slot->is_hanging;
  });
  if (is_over && on_round_end_) std::exchange(on_round_end_, nullptr)();
}

}  // namespace hai
