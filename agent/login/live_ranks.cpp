#include "agent/login/live_ranks.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "agent/login/root_owned.h"
#include "agent/os/files.h"
#include "agent/os/launch_file.h"
#include "agent/os/shim_process.h"
#include "agent/os/status_json.h"
#include "agent/shim/login_door.h"

namespace hai {

namespace {

namespace fs = std::filesystem;

struct Launched {
  LiveRank rank;
  fs::file_time_type at;  // launch.json is written once
};

std::optional<Launched> read_rank(const RankKey& key, const RankDirectory& directory) {
  if (!is_live(directory) || !check_root_owned_file(directory.launch_file()).is_ok())
    return std::nullopt;
  const Result<std::string> text = read_file(directory.launch_file(), kLaunchFileBytesMax);
  if (!text.is_ok()) return std::nullopt;
  Result<LaunchFile> launch = launch_file_from_json(text.value());
  std::error_code error;
  const fs::file_time_type at = fs::last_write_time(directory.launch_file(), error);
  if (!launch.is_ok() || error) return std::nullopt;
  return Launched{.rank = {.key = key,
                           .directory = directory,
                           .user = std::move(launch.value().user),
                           .cgroups = std::move(launch.value().cgroups)},
                  .at = at};
}

// The status may be missing, in a rank that just starts.
bool is_root_owned(const RankDirectory& directory) {
  const Code status = check_root_owned_file(directory.status_file()).code();
  return check_root_owned_directory(directory.path).is_ok() &&
         check_root_owned_file(directory.lock_file()).is_ok() &&
         check_root_owned_file(logins_file(directory)).is_ok() &&
         (status == Code::ok || status == Code::not_found);
}

}  // namespace

// By the shim's pid, not by its lock: who tries a lock holds it for a moment, and an agent that
// starts a shim just then would take the rank for one that another agent holds.
bool is_live(const RankDirectory& directory) {
  if (!is_root_owned(directory) || shim_pid(directory) == 0) return false;
  const Result<std::string> text = read_file(directory.status_file(), kStatusLineBytesMax);
  if (!text.is_ok()) return text.status().code() == Code::not_found;  // It is just starting.
  const Result<RankStatus> status = status_from_json(text.value());
  return status.is_ok() && status.value().phase != RankPhase::exited;
}

Result<std::vector<LiveRank>> find_live_ranks(const std::string& data_dir) {
  const Result<std::string> root = resolve_root_owned(ranks_root(data_dir));
  if (root.status().code() == Code::not_found) return std::vector<LiveRank>();
  if (!root.is_ok()) return root.status();
  std::vector<Launched> found;
  std::error_code error;
  fs::directory_iterator entry(root.value(), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::optional<RankKey> key = parse_rank_key(entry->path().filename().string());
    if (!key) continue;
    if (auto rank = read_rank(*key, {entry->path().string()})) found.push_back(*rank);
  }
  std::ranges::sort(found, [](const Launched& a, const Launched& b) {
    return std::tie(a.at, a.rank.key) > std::tie(b.at, b.rank.key);
  });
  std::vector<LiveRank> ranks;
  for (Launched& launched : found) ranks.push_back(std::move(launched.rank));
  return ranks;
}

}  // namespace hai
