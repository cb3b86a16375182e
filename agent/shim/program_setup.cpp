#include "agent/shim/program_setup.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "common/gpu_set.h"
#include "common/job_service.h"
#include "common/python_environment.h"

namespace hai {
namespace {

constexpr rlim_t kOpenFilesWanted =
    204'800;  // what training programs with many data loaders were found to need

void raise_limit(__rlimit_resource resource, rlim_t wanted) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_max, std::max(limit.rlim_cur, wanted));
  ::setrlimit(resource, &limit);
}

// The program may ask for less or more up to the hard limit, which only a privileged agent raises.
void limit_core_dumps(int64_t bytes) {
  const rlim_t wanted = bytes == kUnlimited ? RLIM_INFINITY : static_cast<rlim_t>(bytes);
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0) return;
  const rlimit raised = {wanted, std::max(wanted, limit.rlim_max)};
  if (::setrlimit(RLIMIT_CORE, &raised) == 0) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_CORE, &limit);
}

// The shim protects itself; its program must not inherit that.
void accept_oom() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  static_cast<void>(!::write(fd, "0", 1));
  ::close(fd);
}

// Numbers of the node's GPUs as CUDA counts them where the process can open no others: from 0.
void count_gpus_from_zero(Environment& environment) {
  const auto found = environment.find("CUDA_VISIBLE_DEVICES");
  if (found == environment.end()) return;
  const Result<GpuSet> gpus = parse_gpu_set(found->second);
  if (gpus.is_ok()) found->second = to_string(GpuSet::first(gpus.value().count()));
}

// "~NAME" of somebody whom this node does not know: nothing is there.
std::string home_of(const std::string& account) {
  std::vector<char> buffer(64 << 10);
  passwd entry{};
  passwd* found = nullptr;
  ::getpwnam_r(account.c_str(), &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? "~" + account : found->pw_dir;
}

}  // namespace

void set_limits_of_programs(int64_t core_bytes) {
  raise_limit(RLIMIT_NOFILE, kOpenFilesWanted);
  raise_limit(RLIMIT_MEMLOCK, RLIM_INFINITY);  // RDMA registers memory
  limit_core_dumps(core_bytes);
  ::umask(022);
  accept_oom();
}

void reset_signals() {
  ::signal(SIGHUP, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool become(const UserIdentity& user) {
  if (!user.switch_user) return true;
  return ::setgroups(user.groups.size(), user.groups.data()) == 0 && ::setgid(user.gid) == 0 &&
         ::setuid(user.uid) == 0;
}

void add_image_environment(const ImageFile& image, LaunchFile& launch) {
  for (LaunchProcess& process : launch.processes) {
    for (const Environment* from : {&image.devices.environment, &image.environment}) {
      for (const auto& [name, value] : *from) {
        if (name != "HOME" && name != "SHELL" && name != "MARSV2_UID")
          process.environment.emplace(name, value);
      }
    }
    if (!image.devices.library_folder.empty()) {  // last: others that it names are meant
      std::string& folders = process.environment["LD_LIBRARY_PATH"];
      folders += (folders.empty() ? "" : ":") + image.devices.library_folder;
    }
    process.environment.emplace("PATH", kDefaultPath);
    process.environment.emplace("LANG", "C.UTF-8");
  }
}

std::string python_folder(const LaunchProcess& process, const UserIdentity& user) {
  const auto said = process.environment.find(kPythonEnvironment);
  if (said == process.environment.end() || said->second.empty()) return "";
  const Result<PythonEnvironment> environment = parse_python_environment(said->second);
  // The server lets no such through; the program must not run without its environment.
  if (!environment.is_ok()) return "/nonexistent";
  const std::string& owner = environment.value().owner;
  return folder_of(environment.value(), owner.empty() ? user.home : home_of(owner));
}

std::vector<std::string> environment_texts(const LaunchFile& launch, const LaunchProcess& process,
                                           const UserIdentity& user) {
  Environment all = {
      {"HOME", user.home}, {"SHELL", user.shell}, {"MARSV2_UID", std::to_string(user.uid)}};
  for (auto& [name, value] : service_environment(launch.program.services, launch.key.job))
    all[name] = std::move(value);
  for (const auto& [name, value] : process.environment) all[name] = value;
  if (const std::string folder = python_folder(process, user); !folder.empty()) {
    all["VIRTUAL_ENV"] = folder;
    all["PATH"] = folder + "/bin:" + all["PATH"];
    all.erase("PYTHONHOME");
  }
  if (launch.confinement.counts_gpus_from_zero) count_gpus_from_zero(all);
  std::vector<std::string> texts;
  for (const auto& [name, value] : all) texts.push_back(name + "=" + value);
  return texts;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace hai
