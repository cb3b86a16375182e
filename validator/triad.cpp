#include "validator/triad.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <mutex>
#include <sstream>

#include "agent/health/file_values.h"
#include "validator/cpus.h"
#include "validator/stopwatch.h"

namespace hai::validator {

namespace {

constexpr double kScale = 3;

// Exact in floating point: b + 3 c is a whole number below 2^53.
double b_at(int64_t i) { return static_cast<double>(i & 0xffffff); }
double c_at(int64_t i) { return static_cast<double>((i * 7) & 0xffffff); }

struct Shared {
  std::mutex mutex;
  TriadResult result;
};

void check_slice(const double* a, int64_t first, int64_t count, int cpu, Shared& shared) {
  int64_t wrong = 0, first_wrong = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (a[i] == b_at(first + i) + kScale * c_at(first + i)) continue;
    if (wrong++ == 0) first_wrong = i;
  }
  if (wrong == 0) return;
  const std::lock_guard lock(shared.mutex);
  shared.result.wrong_elements += wrong;
  if (shared.result.first_wrong.empty())
    shared.result.first_wrong =
        fmt::format("CPU {}: element {} is {}, not {}", cpu, first + first_wrong, a[first_wrong],
                    b_at(first + first_wrong) + kScale * c_at(first + first_wrong));
}

}  // namespace

TriadResult run_triad(const std::vector<int>& cpus, int64_t total_bytes, Duration seconds) {
  const int64_t count = total_bytes / 24 / static_cast<int64_t>(cpus.size());  // per CPU
  if (count <= 0) return {};
  Shared shared;
  Stopwatch total, pass;
  std::atomic<bool> is_over = false;
  bool is_warm = false;
  double best_seconds = 0;
  std::barrier ready(static_cast<std::ptrdiff_t>(cpus.size()), [&]() noexcept { pass = {}; });
  std::barrier done(static_cast<std::ptrdiff_t>(cpus.size()), [&]() noexcept {
    const double took = pass.seconds();
    if (is_warm && (best_seconds == 0 || took < best_seconds)) best_seconds = took;
    shared.result.passes += is_warm;
    is_warm = true;
    is_over = shared.result.passes >= 3 && total.is_over(seconds);
  });
  run_on_cpus(cpus, [&](size_t index, int cpu) {
    const int64_t first = static_cast<int64_t>(index) * count;
    // Not filled by new: the first touch decides which memory it is, and must be this CPU's.
    const std::unique_ptr<double[]> a(new double[count]), b(new double[count]),
        c(new double[count]);
    for (int64_t i = 0; i < count; ++i) {
      a[i] = 0;
      b[i] = b_at(first + i);
      c[i] = c_at(first + i);
    }
    while (!is_over) {
      ready.arrive_and_wait();
      double* __restrict out = a.get();
      const double* __restrict left = b.get();
      const double* __restrict right = c.get();
      for (int64_t i = 0; i < count; ++i) out[i] = left[i] + kScale * right[i];
      asm volatile("" : : "r"(out) : "memory");  // It counts only if it was written.
      done.arrive_and_wait();
    }
    check_slice(a.get(), first, count, cpu, shared);
  });
  const double bytes = 24.0 * static_cast<double>(count) * static_cast<double>(cpus.size());
  if (best_seconds > 0) shared.result.gigabytes_per_second = bytes / best_seconds / 1e9;
  return shared.result;
}

namespace {

// What the control group that holds us may use; "max" and v1's huge number are as good as none.
int64_t group_limit(const std::string& sys_root, const std::string& proc_root) {
  int64_t limit = INT64_MAX;
  std::istringstream lines(read_text(proc_root + "/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {  // "4:memory:/hai/x" or "0::/hai/x"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    const std::string file = controllers.empty()
                                 ? "/fs/cgroup" + group + "/memory.max"
                                 : "/fs/cgroup/memory" + group + "/memory.limit_in_bytes";
    if (controllers.empty() || controllers == "memory")
      limit = std::min(limit, read_integer(sys_root + file).value_or(INT64_MAX));
  }
  return limit;
}

}  // namespace

int64_t triad_bytes(const std::string& sys_root, const std::string& proc_root, bool is_quick) {
  int64_t available = int64_t{1} << 30;
  std::istringstream lines(read_text(proc_root + "/meminfo").value_or(""));
  for (std::string name, unit; lines >> name;) {
    int64_t kibibytes = 0;
    lines >> kibibytes;
    std::getline(lines, unit);
    if (name == "MemAvailable:") available = kibibytes << 10;
  }
  available = std::min(available, group_limit(sys_root, proc_root));
  const int64_t most = int64_t{is_quick ? 1 : 8} << 30;
  // Little enough for several nodes of a dev cluster to do so at once on one machine.
  return std::min(available / 16, most);
}

}  // namespace hai::validator
