#include "agent/hang/hang_report.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "agent/hang/device_activity.h"
#include "agent/hang/stack_tools.h"
#include "common/count_of.h"

namespace hai {

namespace {

constexpr size_t kProcessesMax = 16;  // whose stacks are taken; all are listed
constexpr size_t kReportSummaryBytesMax = 500;
constexpr size_t kListBytesMax = 8 << 10;
constexpr size_t kDeviceBytesMax = 4 << 10;

using Clock = std::chrono::steady_clock;

class ReportMaker {
 public:
  explicit ReportMaker(const HangReportOptions& options)
      : options_(options), end_(Clock::now() + options.patience) {}

  HangReport make() {
    for (const pid_t pid : options_.pids) {
      if (auto brief = read_brief(options_.proc_root, pid)) processes_.push_back(*brief);
    }
    list();
    add_devices();
    sort_by_worth();
    StackTools tools = find_stack_tools(options_.tool_path);
    tools.cgroups = options_.cgroups;
    if (tools.gdb.empty()) report_.text += "(no gdb on this node: no native stacks)\n";
    const size_t count = std::min(processes_.size(), kProcessesMax);
    for (size_t i = 0; i < count; ++i) {
      const size_t room = options_.bytes_max - std::min(options_.bytes_max, report_.text.size());
      add_process(processes_[i], tools, room / (count - i));
    }
    if (processes_.size() > count)
      report_.text +=
          fmt::format("stacks of {} left out\n",
                      count_of(static_cast<int64_t>(processes_.size() - count), "more process"));
    cut(report_.text, options_.bytes_max);
    cut(report_.summary, kReportSummaryBytesMax);
    return std::move(report_);
  }

 private:
  static void cut(std::string& text, size_t bytes_max) {
    static constexpr std::string_view kCut = "(cut)\n";
    if (text.size() <= bytes_max) return;
    text.resize(bytes_max - std::min(bytes_max, kCut.size()));
    if (bytes_max > kCut.size()) text += kCut;
  }

  Duration left(Duration patience) const {
    const auto all = std::chrono::duration_cast<Duration>(end_ - Clock::now());
    return std::clamp(all, Duration::zero(), patience);
  }

  // The program itself, whose parent is none of these; then what talks Python, which is what the
  // user knows; then those with the most threads.
  void sort_by_worth() {
    std::set<pid_t> all;
    for (const ProcessBrief& process : processes_) all.insert(process.pid);
    const auto worth = [&](const ProcessBrief& process) {
      return std::tuple(!all.contains(process.parent), process.is_python, process.threads);
    };
    std::stable_sort(processes_.begin(), processes_.end(),
                     [&](const auto& a, const auto& b) { return worth(a) > worth(b); });
  }

  void list() {
    std::string text = count_of(std::ssize(processes_), "process") + "\n";
    for (const ProcessBrief& process : processes_) {
      text += fmt::format("pid {} {}: {}, {} threads", process.pid, process.name, process.state,
                          process.threads);
      if (!process.waits_in.empty()) text += ", waits in " + process.waits_in;
      text += "\n";
    }
    cut(text, kListBytesMax);
    report_.text += text;
    if (processes_.empty()) report_.summary = "no process is left";
  }

  void add_devices() {
    const ChildOutput output = run_in_child(
        [&](int fd) {
          const std::string text =
              describe_device_activity(options_.sys_root, options_.nvml_library);
          (void)!::write(fd, text.data(), text.size());
        },
        {.patience = left(options_.tool_patience), .bytes_max = kDeviceBytesMax});
    report_.text += output.text;
    if (output.is_late) report_.text += "GPUs and ports: no answer in time\n";
  }

  void add_process(const ProcessBrief& process, const StackTools& tools, size_t bytes_max) {
    std::string text;
    std::string where = process.waits_in;
    const auto limits = [&] {
      return ChildLimits{.patience = left(options_.tool_patience), .bytes_max = bytes_max / 2};
    };
    const auto add = [&](const std::optional<Stack>& stack) {
      if (!stack) return;
      text += fmt::format("--- pid {} {}, by {}\n{}", process.pid, process.name, stack->tool,
                          stack->text);
      if (!stack->top_frame.empty()) where = stack->top_frame;
    };
    // Python's last: its top frame replaces the native one in the summary.
    if (left(options_.tool_patience) > Duration::zero())
      add(native_stack(tools, process, limits()));
    if (left(options_.tool_patience) > Duration::zero())
      add(python_stack(tools, process, limits()));
    cut(text, bytes_max - bytes_max / 4);
    std::string kernel = fmt::format("--- pid {} {}, by the kernel\n{}", process.pid, process.name,
                                     kernel_stacks(process.pid));
    cut(kernel, bytes_max - std::min(bytes_max, text.size()));
    report_.text += text + kernel;
    if (report_.summary.size() > kReportSummaryBytesMax) return;
    report_.summary +=
        fmt::format("{}{}({}) {}{}{}", report_.summary.empty() ? "" : "; ", process.name,
                    process.pid, process.state, where.empty() ? "" : " in ", where);
  }

  // In a child, like the tools: if the kernel blocks the reader, only the child is stuck.
  std::string kernel_stacks(pid_t pid) const {
    const ChildOutput output = run_in_child(
        [&](int fd) {
          const std::string text = read_kernel_stacks(options_.proc_root, pid);
          (void)!::write(fd, text.data(), text.size());
        },
        {.patience = std::max(left(2s), Duration(200ms)), .bytes_max = 16 << 10});
    return output.text + (output.is_late ? "(no answer in time)\n" : "");
  }

  const HangReportOptions& options_;
  Clock::time_point end_;
  std::vector<ProcessBrief> processes_;
  HangReport report_;
};

}  // namespace

HangReport make_hang_report(const HangReportOptions& options) {
  return ReportMaker(options).make();
}

}  // namespace hai
