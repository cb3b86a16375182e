#include "common/config/config_change.h"

#include <algorithm>
#include <set>

namespace hai {
namespace {

const std::string* value_of(const ConfigKeys& keys, const std::string& path) {
  const auto found = keys.find(path);
  return found == keys.end() ? nullptr : &found->second;
}

bool is_same(const std::string* one, const std::string* other) {
  if (one == nullptr || other == nullptr) return one == other;
  return *one == *other;
}

}  // namespace

ConfigChange compare_configs(const ConfigKeys& running, const ConfigKeys& file,
                             std::span<const std::string_view> reloaded) {
  std::set<std::string> paths;
  for (const auto& [path, value] : running) paths.insert(path);
  for (const auto& [path, value] : file) paths.insert(path);
  ConfigChange change;
  for (const std::string& path : paths) {
    if (is_same(value_of(running, path), value_of(file, path))) continue;
    const bool is_taken = std::ranges::any_of(reloaded, [&](std::string_view key) {
      return path == key || (key.ends_with('.') && path.starts_with(key));
    });
    (is_taken ? change.taken : change.waiting).push_back(path);
  }
  return change;
}

ConfigKeys keys_after(ConfigKeys running, const ConfigKeys& file, const ConfigChange& change) {
  for (const std::string& path : change.taken) {
    const std::string* value = value_of(file, path);
    if (value == nullptr) {
      running.erase(path);
    } else {
      running[path] = *value;
    }
  }
  return running;
}

}  // namespace hai
