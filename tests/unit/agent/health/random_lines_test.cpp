// Ten thousand lines of every kind of damage: nothing of it may crash the agent or grow without
// bound.

#include "agent/health/kernel_check.h"
#include "common/rng.h"
#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

std::vector<std::string> recorded_lines() {
  std::vector<std::string> lines;
  for (const char* name : {"/kmsg", "/dmesg"}) {
    std::ifstream file(kHealthData + name);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
  }
  return lines;
}

// A recorded line with bytes changed, taken out, doubled or cut off.
std::string damaged(std::string line, Rng& rng) {
  const auto changes = rng.below(6);
  for (uint64_t i = 0; i < changes && !line.empty(); ++i) {
    const size_t at = rng.below(line.size());
    switch (rng.below(5)) {
      case 0:
        line[at] = static_cast<char>(rng.below(256));
        break;
      case 1:
        line.erase(at, 1 + rng.below(8));
        break;
      case 2:
        line.insert(at, line.substr(at, rng.below(40)));
        break;
      case 3:
        line.resize(at);
        break;
      default:
        line.insert(at, std::string(rng.below(3'000), "9(),:;[]* "[rng.below(10)]));
    }
  }
  return line;
}

TEST(RandomLines, never_crash_and_never_grow) {
  TempFolder folder;
  const std::vector<std::string> lines = recorded_lines();
  Rng rng(20261120);
  KernelCheckOptions options;
  options.kmsg = folder.path("kmsg");
  options.proc_root = kHealthData + "/node/proc";
  options.fault_file = folder.path("faults.json");
  KernelCheck check(options);
  size_t results_max = 0;
  for (int round = 0; round < 10; ++round) {
    std::string text;
    for (int i = 0; i < 1'000; ++i) {
      text += damaged(lines[rng.below(lines.size())], rng);
      if (rng.below(50) != 0) text += '\n';
    }
    folder.append("kmsg", text);
    results_max = std::max(results_max, check.run(input_at(round * 1min)).size());
  }
  EXPECT_LE(results_max, FaultLedger::kFaultsMax + 16);
}

}  // namespace
}  // namespace hai
