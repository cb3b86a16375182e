// How a rank's end is told and kept, and what its shim leaves behind.

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "agent/os/files.h"
#include "agent/shim/complain.h"
#include "agent/shim/shim.h"
#include "common/boot_clock.h"

namespace hai {
namespace {

constexpr Duration kEndRetry = 1s;
// So many of the processes that are left behind are named.
constexpr ptrdiff_t kNamedMax = 20;

// `limit` in bytes, 0 = that of the machine.
std::string out_of_memory_text(int64_t limit) {
  constexpr double kGib = 1 << 30;
  constexpr double kMib = 1 << 20;
  const auto bytes = static_cast<double>(limit);
  if (limit == 0) return "killed: out of memory (the machine had no more)";
  return bytes >= kGib
             ? fmt::format("killed: out of memory (cgroup limit {:.4g} GiB)", bytes / kGib)
             : fmt::format("killed: out of memory (cgroup limit {:.4g} MiB)", bytes / kMib);
}

}  // namespace

// Also in the job's log: the rank's directory, with what the shim complains of, goes with the rank.
void Shim::say_left_behind(const std::vector<pid_t>& processes) {
  const std::vector<pid_t> named(
      processes.begin(), processes.begin() + std::min<ptrdiff_t>(kNamedMax, std::ssize(processes)));
  const std::string text = fmt::format(
      "{} processes of logins, killed, were not gone after {} and may still use its GPUs: {}{}",
      processes.size(), format_duration(kRemovePatience), fmt::join(named, ", "),
      named.size() < processes.size() ? ", ..." : "");
  complain(text);
  write_log("hai: " + text + "\n");
  status_.message += (status_.message.empty() ? "" : "; ") + text;
}

void Shim::report_end(int64_t killed_for_memory, const std::vector<pid_t>& left) {
  status_.phase = RankPhase::exited;
  status_.word_at.reset();
  status_.cause = life_.cause();
  status_.exit_code = life_.exit_code();
  status_.message = life_.message();
  if (status_.message.empty() && killed_for_memory > 0) {
    status_.message = out_of_memory_text(memory_limit_);
  }
  if (!left.empty()) say_left_behind(left);
  status_.ended_at = system_now();
  status_.usage = usage_;
  publish_end();
}

// How a rank has ended is said to an agent that may be gone in a moment, and what is kept is all
// the next one goes by: where it cannot be written, as the disk is full, the shim stays until it
// can.
void Shim::publish_end() {
  sync_file(directory_.launch_file());  // without which the end cannot be read, and which was not
  const bool is_kept = publish(Durability::survives_crash_of_machine);
  if (!is_kept && ::access(directory_.path.c_str(), F_OK) == 0) {
    end_due_ = boot_now() + kEndRetry;
    return arm_timer();
  }
  end_due_.reset();
  control_server_->finish([this] { clean_up(); });
}

void Shim::clean_up() {
  control_server_.reset();
  std::error_code ignored;
  if (!launch_.temp_dir.empty()) std::filesystem::remove_all(launch_.temp_dir, ignored);
  if (launch_.socket_dir != directory_.path) ::rmdir(launch_.socket_dir.c_str());
  if (done_) done_();
}

}  // namespace hai
