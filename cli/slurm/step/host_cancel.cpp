// The part of the host that is about scancel: steps that somebody ends, or signals.

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "cli/slurm/step/host.h"

namespace hai::cli::slurm {
namespace {

// As long as Slurm's KillWait is by default.
constexpr Duration kKillWait = 30s;

}  // namespace

void BatchHost::on_cancel(Client& client, const Frame& frame) {
  const Frame done = {FrameKind::bye, frame.step, 0, "0"};
  const auto waiting =
      std::ranges::find_if(waiting_, [&](const WaitingStep& s) { return s.number == frame.step; });
  if (waiting != waiting_.end() && frame.body.empty()) {
    waiting_.erase(waiting);
    tell_client(frame.step, {FrameKind::refused, frame.step, 0, "the step was cancelled"});
    return client.channel.send(done);
  }
  Step* step = find_step(frame.step);
  if (step == nullptr) {
    return client.channel.send({FrameKind::refused, frame.step, 0, "it does not run"});
  }
  if (!frame.body.empty()) {
    signal_step(*step, std::atoi(frame.body.c_str()));
  } else if (!step->kill_at) {
    step->record.is_cancelled = true;
    step->kill_on_bad_exit = false;  // each task has its time to clean up
    step->kill_at = mono_now() + kKillWait;
    signal_step(*step, SIGCONT);  // who is stopped could not hear the other one
    signal_step(*step, SIGTERM);
  }
  client.channel.send(done);
}

void BatchHost::signal_step(const Step& step, int signal) {
  for (const int rank : step.ranks) {
    if (rank == 0) {
      tasks_.signal(step.number, signal);
    } else {
      peers_[static_cast<size_t>(rank - 1)].channel.send(
          {FrameKind::kill, step.number, 0, std::to_string(signal)});
    }
  }
}

void BatchHost::kill_cancelled() {
  const MonoTime now = mono_now();
  std::vector<uint32_t> due;  // a step may leave the list when it is killed
  for (Step& step : steps_) {
    if (!step.kill_at || now < *step.kill_at) continue;
    step.kill_at.reset();
    due.push_back(step.number);
  }
  for (const uint32_t number : due) kill_step(number);
}

}  // namespace hai::cli::slurm
