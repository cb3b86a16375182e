#include "tests/support/stub_nvml/stub_state.h"

#include <dlfcn.h>
#include <time.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace {

// Agents that are started together share their environment: a copy of the library, or a link to it,
// gives each a file of its own.
std::string state_file() {
  if (const char* named = std::getenv("HAI_STUB_NVML"); named != nullptr) return named;
  Dl_info self{};
  if (::dladdr(reinterpret_cast<void*>(&read_stub_state), &self) == 0) return "";
  return std::string(self.dli_fname) + ".state";
}

}  // namespace

int64_t StubState::value(unsigned gpu, const std::string& key, int64_t otherwise) const {
  for (const std::string& name : {std::to_string(gpu), std::string("*")}) {
    const auto found = gpus.find(name);
    if (found == gpus.end()) continue;
    const auto entry = found->second.find(key);
    if (entry != found->second.end()) return entry->second;
  }
  return otherwise;
}

StubState read_stub_state() {
  StubState state;
  std::ifstream file(state_file());
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word, name, key;
    words >> word;
    if (word == "count") words >> state.count;
    if (word == "init") words >> state.init;
    if (word == "driver") words >> state.driver;
    if (word == "hang" && words >> name) state.hanging.insert(name);
    int64_t value = 0;
    if (word == "gpu" && words >> name >> key >> value) state.gpus[name][key] = value;
  }
  return state;
}

void hang_if_told(const char* function) {
  const timespec pause{.tv_sec = 0, .tv_nsec = 5'000'000};
  while (read_stub_state().hanging.contains(function)) ::nanosleep(&pause, nullptr);
}
