#include "agent/os/host_facts.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "agent/os/files.h"

namespace hai {

namespace {

constexpr size_t kFactFileBytesMax = 64 << 10;

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

int64_t total_memory_bytes(const std::string& proc_root) {
  const Result<std::string> text = read_file(proc_root + "/meminfo", kFactFileBytesMax);
  if (!text.is_ok()) return 0;
  std::istringstream words(text.value());
  std::string word;
  while (words >> word) {
    int64_t kibibytes = 0;
    if (word == "MemTotal:" && words >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

int count_numa_nodes(const std::string& sys_root) {
  int count = 0;
  std::error_code error;
  std::filesystem::directory_iterator entry(sys_root + "/devices/system/node", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() > 4 && name.starts_with("node") &&
        std::isdigit(static_cast<unsigned char>(name[4])) != 0)
      ++count;
  }
  return std::max(1, count);
}

// "" if it can't be read.
std::string read_id(const std::string& path) {
  Result<std::string> text = read_file(path, kFactFileBytesMax);
  if (!text.is_ok()) return "";
  std::string id = std::move(text).value();
  while (!id.empty() && std::isspace(static_cast<unsigned char>(id.back())) != 0) id.pop_back();
  return id;
}

}  // namespace

std::vector<int> usable_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  // Not where the machine has more than such a set holds: then all are said.
  const bool is_known = ::sched_getaffinity(0, sizeof set, &set) == 0;
  const int count = is_known ? CPU_SETSIZE : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  for (int cpu = 0; cpu < count; ++cpu) {
    if (!is_known || CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::string read_boot_id(const std::string& proc_root) {
  return read_id(proc_root + "/sys/kernel/random/boot_id");
}

NodeFacts gather_host_facts(const std::string& sys_root, const std::string& proc_root) {
  NodeFacts facts;
  facts.name = host_name();
  facts.address = facts.name;
  facts.cpus = std::max<int>(1, static_cast<int>(usable_cpus().size()));
  facts.memory_bytes = total_memory_bytes(proc_root);
  facts.numa_nodes = count_numa_nodes(sys_root);
  facts.boot_id = read_boot_id(proc_root);
  // Not /etc/machine-id, which machines made from one image may share.
  facts.machine = read_id(sys_root + "/class/dmi/id/product_uuid");
  return facts;
}

}  // namespace hai
