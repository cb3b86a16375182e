#include "validator/node_model.h"

#include <fmt/core.h>

#include <map>
#include <sstream>

#include "agent/health/file_values.h"
#include "agent/os/host_facts.h"

namespace hai::validator {

namespace {

// The value of the first line "NAME<blanks>: value".
std::string value_of(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon != std::string::npos && trimmed(std::string_view(line).substr(0, colon)) == name)
      return std::string(trimmed(std::string_view(line).substr(colon + 1)));
  }
  return {};
}

std::string gpu_models(const std::string& proc_root) {
  std::map<std::string, int> counts;
  const std::string folder = proc_root + "/driver/nvidia/gpus";
  for (const std::string& gpu : list_folder(folder)) {
    const std::string name =
        value_of(read_text(folder + "/" + gpu + "/information").value_or(""), "Model");
    ++counts[name.empty() ? "GPU" : name];
  }
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format(", {} x {}", count, name);
  return text;
}

}  // namespace

std::string node_model(const std::string& sys_root, const std::string& proc_root) {
  const NodeFacts facts = gather_host_facts(sys_root, proc_root);
  std::string cpu = value_of(read_text(proc_root + "/cpuinfo").value_or(""), "model name");
  if (cpu.empty()) cpu = "CPU";
  // What the kernel leaves of the memory differs by boot; in steps of 4 GiB it does not.
  constexpr int64_t kStep = int64_t{4} << 30;
  const int64_t gibibytes = (facts.memory_bytes + kStep / 2) / kStep * 4;
  return fmt::format("{} x{}, {} GiB{}", cpu, facts.cpus, gibibytes, gpu_models(proc_root));
}

}  // namespace hai::validator
