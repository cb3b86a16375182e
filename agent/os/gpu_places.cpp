#include "agent/os/gpu_places.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "agent/os/files.h"
#include "common/array_range.h"
#include "common/whole_number.h"

namespace hai {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFileBytesMax = 64 << 10;

// "" if it can't be read.
std::string read_line(const fs::path& path) {
  const Result<std::string> text = read_file(path.string(), kFileBytesMax);
  return text.is_ok() ? text.value().substr(0, text.value().find('\n')) : "";
}

// Where the bridges above a device lead: "devices/pci0000:16/0000:16:01.0/…".
fs::path place_on_bus(const fs::path& device) {
  std::error_code error;
  const fs::path real = fs::canonical(device, error);
  return error ? fs::path() : real;
}

// How many bridges two devices have above them together.
int shared_steps(const fs::path& one, const fs::path& other) {
  const auto ends = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  return static_cast<int>(std::distance(one.begin(), ends.first));
}

// The kernel writes lists of CPUs as Slurm does those of tasks: "0-15,32-47".
std::vector<int> read_cpu_list(const fs::path& path) {
  const Result<ArrayRange> range = ArrayRange::parse(read_line(path));
  return range.is_ok() ? range.value().indices() : std::vector<int>();
}

struct Nic {
  std::string name;
  fs::path place;
  int numa_node = -1;
};

std::vector<Nic> find_nics(const std::string& sys_root) {
  std::vector<Nic> nics;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(sys_root + "/class/infiniband", error)) {
    const fs::path device = entry.path() / "device";
    const auto numa_node = whole_number<int>(read_line(device / "numa_node"));
    nics.push_back(
        {entry.path().filename().string(), place_on_bus(device), numa_node.value_or(-1)});
  }
  std::ranges::sort(nics, {}, &Nic::name);
  return nics;
}

// The nearest one: under the same bridge, else at the same NUMA node. Of several that are as near
// the one that fewest GPUs have so far, so that GPUs share them evenly.
std::string nearest_nic(const std::vector<Nic>& nics, const fs::path& gpu, int numa_node,
                        std::map<std::string, int>& users) {
  const auto rank = [&](const Nic& nic) {
    return std::tuple(-shared_steps(gpu, nic.place), nic.numa_node != numa_node, users[nic.name]);
  };
  const auto best = std::ranges::min_element(nics, {}, rank);
  if (best == nics.end()) return "";
  ++users[best->name];
  return best->name;
}

}  // namespace

std::vector<GpuPlace> find_gpu_places(const std::vector<std::string>& pci_addresses,
                                      const std::vector<int>& usable_cpus,
                                      const std::string& sys_root) {
  const std::vector<Nic> nics = find_nics(sys_root);
  std::map<std::string, int> users;
  std::vector<GpuPlace> places;
  for (const std::string& address : pci_addresses) {
    const fs::path device = fs::path(sys_root) / "bus/pci/devices" / address;
    // -1 where the firmware does not say, as in most virtual machines.
    const int numa_node =
        std::max(-1, whole_number<int>(read_line(device / "numa_node")).value_or(-1));
    std::vector<int> cpus;
    std::ranges::set_intersection(read_cpu_list(device / "local_cpulist"), usable_cpus,
                                  std::back_inserter(cpus));
    if (numa_node < 0) cpus.clear();  // then the kernel names all of the machine's
    std::string nic = nearest_nic(nics, place_on_bus(device), numa_node, users);
    places.push_back({numa_node, std::move(cpus), std::move(nic)});
  }
  const bool is_any_known =
      std::ranges::any_of(places, [](const GpuPlace& place) { return !place.cpus.empty(); });
  return is_any_known ? places : std::vector<GpuPlace>();
}

Environment variables_of_places(const std::vector<GpuPlace>& places, GpuSet gpus) {
  std::string numa_nodes;
  std::string nics;
  for (int gpu = 0; gpu < static_cast<int>(places.size()); ++gpu) {
    if (!gpus.contains(gpu)) continue;
    const GpuPlace& place = places[static_cast<size_t>(gpu)];
    const char* comma = numa_nodes.empty() ? "" : ",";
    numa_nodes += comma + std::to_string(place.numa_node);
    nics += comma + place.nic;
  }
  if (numa_nodes.empty()) return {};
  Environment variables = {{"HAI_GPU_NUMA", numa_nodes}};
  const bool has_nics = !places.front().nic.empty();  // each has one if one has
  if (has_nics) variables["HAI_GPU_NICS"] = nics;
  return variables;
}

std::vector<int> near_cpus(const std::vector<GpuPlace>& places, GpuSet gpus, int cpus_asked) {
  std::set<int> cpus;
  for (int gpu = 0; gpu < static_cast<int>(places.size()); ++gpu) {
    const std::vector<int>& near = places[static_cast<size_t>(gpu)].cpus;
    if (!gpus.contains(gpu)) continue;
    if (near.empty()) return {};  // beside the others' CPUs this one may be far away
    cpus.insert(near.begin(), near.end());
  }
  const bool has_all = gpus.count() >= static_cast<int>(places.size());
  if (has_all || cpus_asked > static_cast<int>(cpus.size())) return {};
  return {cpus.begin(), cpus.end()};
}

}  // namespace hai
