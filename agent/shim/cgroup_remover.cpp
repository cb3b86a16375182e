#include "agent/shim/cgroup_remover.h"

#include <algorithm>
#include <utility>

#include "agent/os/cgroup.h"
#include "common/boot_clock.h"

namespace hai {

namespace {

constexpr Duration kPauseMin = 5ms;
constexpr Duration kPauseMax = 50ms;

}  // namespace

CgroupRemover::CgroupRemover(boost::asio::io_context& context, std::vector<std::string> directories,
                             Duration patience)
    : directories_(std::move(directories)),
      patience_(patience),
      timer_(context, [this] { try_again(); }),
      pause_(kPauseMin) {}

void CgroupRemover::start(std::function<void(std::vector<pid_t>)> done) {
  done_ = std::move(done);
  give_up_at_ = boot_now() + patience_;
  try_again();
}

// Removing comes before looking: a group that is gone takes nobody in any more, and whoever came
// before keeps it from being removed and is seen.
void CgroupRemover::try_again() {
  remove_cgroups(directories_);
  std::vector<pid_t> left = cgroup_processes(directories_);
  if (!left.empty()) kill_cgroups(directories_);
  const MonoTime now = boot_now();
  if (left.empty() || now >= give_up_at_) return std::exchange(done_, nullptr)(std::move(left));
  timer_.set(std::min(now + pause_, give_up_at_));
  pause_ = std::min(pause_ * 2, kPauseMax);
}

}  // namespace hai
