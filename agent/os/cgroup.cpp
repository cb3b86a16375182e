#include "agent/os/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>

#include "agent/os/device_filter.h"
#include "agent/os/files.h"
#include "common/whole_number.h"

namespace hai {

namespace {

constexpr size_t kProcFileBytesMax = 16 << 20;
constexpr int kCpuPeriodMicros = 100'000;

bool write_control(const std::string& path, const std::string& value) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return fd.is_open() &&
         ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool make_directory(const std::string& path) {
  return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
}

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    names.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

bool is_cgroup_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
         std::ranges::all_of(name, [](unsigned char c) {
           return std::isalnum(c) != 0 ||
                  std::string_view("._@:-").find(c) != std::string_view::npos;
         });
}

// Only the root may have both processes and groups with controllers. Elsewhere the kernel would
// enable some all the same, and then take no process into the groups below.
bool has_processes_in_the_way(const std::string& group) {
  if (!exists(group + "/cgroup.type")) return false;  // the root
  const Result<std::string> processes = read_file(group + "/cgroup.procs", kProcFileBytesMax);
  return processes.is_ok() && !processes.value().empty();
}

// One by one: a controller that is not there must not keep the others from being enabled.
void enable_controllers(const std::string& group) {
  if (has_processes_in_the_way(group)) return;
  for (const char* controller : {"+cpu", "+memory", "+pids"}) {
    write_control(group + "/cgroup.subtree_control", controller);
  }
}

// Whether the number of processes is limited there.
bool set_limits(const std::string& directory, const CgroupLimits& limits) {
  if (limits.cpus > 0) {
    const std::string quota = std::to_string(int64_t{limits.cpus} * kCpuPeriodMicros);
    write_control(directory + "/cpu.max", quota + " " + std::to_string(kCpuPeriodMicros));
    write_control(directory + "/cpu.cfs_period_us", std::to_string(kCpuPeriodMicros));
    write_control(directory + "/cpu.cfs_quota_us", quota);
  }
  if (limits.memory_bytes > 0) {
    const std::string bytes = std::to_string(limits.memory_bytes);
    write_control(directory + "/memory.max", bytes);
    write_control(directory + "/memory.limit_in_bytes", bytes);
  }
  return limits.processes > 0 &&
         write_control(directory + "/pids.max", std::to_string(limits.processes));
}

// Of the v1 controller. A device that the group above may not open is refused here, too; then the
// rest still holds.
bool filter_devices_v1(const std::string& directory, const std::vector<DeviceRule>& rules) {
  if (!write_control(directory + "/devices.deny", "a")) return false;
  for (const DeviceRule& rule : rules) {
    const std::string minor =
        rule.minor == DeviceRule::kAnyMinor ? "*" : std::to_string(rule.minor);
    write_control(
        directory + "/devices.allow",
        std::string(1, rule.kind) + " " + std::to_string(rule.major) + ":" + minor + " rw");
  }
  return true;
}

// A group and all below it, deepest first.
std::vector<std::string> with_children(const std::string& directory) {
  std::vector<std::string> found = {directory};
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(error)) {
    if (entry->is_directory(error)) found.push_back(entry->path().string());
  }
  std::sort(found.rbegin(), found.rend());  // A path sorts before what is below it.
  return found;
}

void append_processes(const std::string& directory, std::set<pid_t>& out) {
  const Result<std::string> text = read_file(directory + "/cgroup.procs", kProcFileBytesMax);
  if (!text.is_ok()) return;
  std::istringstream lines(text.value());
  for (pid_t pid = 0; lines >> pid;) {
    if (pid > 0) out.insert(pid);  // 0 is a process of another pid namespace
  }
}

// A hierarchy's root is none: it is no rank's.
bool is_group_of(const CgroupMounts& mounts, std::string_view directory) {
  const std::initializer_list<std::string> roots = {mounts.unified, mounts.cpu, mounts.memory,
                                                    mounts.pids, mounts.devices};
  return std::ranges::any_of(roots, [&](const std::string& root) {
    return !root.empty() && directory.starts_with(root + "/") &&
           is_cgroup_path(directory.substr(root.size() + 1));
  });
}

}  // namespace

CgroupMounts find_cgroup_mounts() {
  CgroupMounts mounts;
  const Result<std::string> text = read_file("/proc/self/mounts", kProcFileBytesMax);
  if (!text.is_ok()) return mounts;
  std::istringstream lines(text.value());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device, path, type, options;
    words >> device >> path >> type >> options;
    if (type == "cgroup2" && mounts.unified.empty()) {
      mounts.unified = path;
      const Result<std::string> controllers = read_file(path + "/cgroup.controllers", 4096);
      mounts.unified_has_controllers =
          controllers.is_ok() && controllers.value().find("memory") != std::string::npos;
    }
    if (type != "cgroup") continue;
    const std::string list = "," + options + ",";
    if (list.find(",cpu,") != std::string::npos) mounts.cpu = path;
    if (list.find(",memory,") != std::string::npos) mounts.memory = path;
    if (list.find(",pids,") != std::string::npos) mounts.pids = path;
    if (list.find(",devices,") != std::string::npos) mounts.devices = path;
  }
  return mounts;
}

bool is_cgroup_path(std::string_view path) {
  return std::ranges::all_of(split_path(path), is_cgroup_name);
}

CgroupHost::CgroupHost(CgroupMounts mounts, std::string parent, std::string prefix)
    : mounts_(std::move(mounts)), parent_(std::move(parent)), prefix_(std::move(prefix)) {}

std::vector<std::string> CgroupHost::hierarchies(const CgroupLimits& limits) const {
  std::vector<std::string> roots;
  const auto add = [&roots](const std::string& root) {
    if (!root.empty() && std::find(roots.begin(), roots.end(), root) == roots.end())
      roots.push_back(root);
  };
  add(mounts_.unified);  // Even without controllers it can kill a whole group at once.
  if (mounts_.unified.empty()) add(mounts_.pids);
  if (!mounts_.unified_has_controllers) {
    if (limits.cpus > 0) add(mounts_.cpu);
    if (limits.memory_bytes > 0) add(mounts_.memory);
    if (limits.processes > 0) add(mounts_.pids);
  }
  if (limits.devices && mounts_.unified.empty()) add(mounts_.devices);
  return roots;
}

// "" if it cannot be made.
std::string CgroupHost::make_group(const std::string& root, std::string_view name) const {
  const std::string directory = root + "/" + parent_ + "/" + prefix_ + "." + std::string(name);
  const bool has_controllers = root == mounts_.unified && mounts_.unified_has_controllers;
  std::string group = root;
  for (const std::string& name_of_group : split_path(parent_)) {
    if (has_controllers) enable_controllers(group);
    group += "/" + name_of_group;
    if (!make_directory(group)) return "";
  }
  if (has_controllers) enable_controllers(group);
  return make_directory(directory) ? directory : "";
}

bool CgroupHost::filter(const std::string& directory, const std::vector<DeviceRule>& rules) const {
  if (!mounts_.unified.empty() && directory.starts_with(mounts_.unified + "/"))
    return filter_devices(directory, rules).is_ok();
  return !mounts_.devices.empty() && directory.starts_with(mounts_.devices + "/") &&
         filter_devices_v1(directory, rules);
}

RankCgroups CgroupHost::create(std::string_view name, const CgroupLimits& limits) {
  RankCgroups made;
  if (::geteuid() != 0) return made;
  for (const std::string& root : hierarchies(limits)) {
    const std::string directory = make_group(root, name);
    if (directory.empty()) continue;
    made.limits_processes |= set_limits(directory, limits);
    if (limits.devices) made.filters_devices |= filter(directory, *limits.devices);
    made.directories.push_back(directory);
  }
  return made;
}

void CgroupHost::remove_others(const std::vector<std::string>& keep) {
  std::set<std::string> kept;
  for (const std::string& name : keep) kept.insert(prefix_ + "." + name);
  std::vector<std::string> stale;
  for (const std::string& root :
       {mounts_.unified, mounts_.cpu, mounts_.memory, mounts_.pids, mounts_.devices}) {
    if (root.empty()) continue;
    std::error_code error;
    std::filesystem::directory_iterator entry(root + "/" + parent_, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.starts_with(prefix_ + ".") && !kept.contains(name))
        stale.push_back(entry->path().string());
    }
  }
  kill_cgroups(stale);
  remove_cgroups(stale);
}

void kill_cgroups(const std::vector<std::string>& directories) {
  std::vector<std::string> one_by_one;
  for (const std::string& directory : directories) {
    if (!write_control(directory + "/cgroup.kill", "1")) one_by_one.push_back(directory);
  }
  // Before Linux 5.14: processes that fork and exit at once would never be met.
  for (const std::string& directory : one_by_one) {
    if (!write_control(directory + "/pids.max", "0"))
      write_control(directory + "/cgroup.freeze", "1");
  }
  for (const pid_t pid : cgroup_processes(one_by_one)) ::kill(pid, SIGKILL);
}

std::vector<pid_t> cgroup_processes(const std::vector<std::string>& directories) {
  std::set<pid_t> pids;
  for (const std::string& directory : directories) {
    if (!exists(directory)) continue;
    for (const std::string& group : with_children(directory)) append_processes(group, pids);
  }
  return {pids.begin(), pids.end()};
}

int64_t memory_kills(const std::vector<std::string>& directories) {
  int64_t kills = 0;
  for (const std::string& directory : directories) {
    for (const char* file : {"/memory.events", "/memory.oom_control"}) {  // v2, v1
      const Result<std::string> text = read_file(directory + file, 4096);
      if (!text.is_ok()) continue;
      std::istringstream words(text.value());
      int64_t count = 0;
      for (std::string word; words >> word;) {
        if (word == "oom_kill" && words >> count) kills += count;
      }
    }
  }
  return kills;
}

int64_t memory_limit(const std::vector<std::string>& directories) {
  constexpr int64_t kUnlimitedFrom = int64_t{1} << 60;  // v1 says so with a number near 2^63
  for (const std::string& directory : directories) {
    for (const char* file : {"/memory.max", "/memory.limit_in_bytes"}) {  // v2, v1
      const Result<std::string> text = read_file(directory + file, 4096);
      if (!text.is_ok()) continue;
      std::string_view number = text.value();
      number = number.substr(0, number.find('\n'));  // "max" is no number
      const int64_t bytes = whole_number(number).value_or(0);
      if (bytes > 0 && bytes < kUnlimitedFrom) return bytes;
    }
  }
  return 0;
}

void remove_cgroups(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    if (!exists(directory)) continue;
    for (const std::string& group : with_children(directory)) ::rmdir(group.c_str());
  }
}

Status move_into_cgroups(pid_t pid, const std::vector<std::string>& directories) {
  const CgroupMounts mounts = find_cgroup_mounts();
  for (const std::string& directory : directories) {
    if (!is_group_of(mounts, directory))
      return failed_precondition("{} is no control group of this machine", directory);
  }
  for (const std::string& directory : directories) {
    if (write_control(directory + "/cgroup.procs", std::to_string(pid))) continue;
    const int error = errno;
    // ENODEV: the group was removed between open and write. ESRCH: the process is gone.
    if (error == ENOENT || error == ENODEV || error == ESRCH)
      return not_found("cannot move process {} into {}: {}", pid, directory, errno_text(error));
    return internal("cannot move process {} into {}: {}", pid, directory, errno_text(error));
  }
  return ok();
}

}  // namespace hai
