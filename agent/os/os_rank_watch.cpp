// OsRankHost, the part about what is looked at: how ranks use the node, what validations measured,
// and where the processes of a hanging rank stand.

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "agent/os/os_rank.h"
#include "agent/os/os_rank_host.h"
#include "agent/os/shim_process.h"
#include "agent/os/validation_file.h"
#include "common/log.h"

namespace hai {

namespace {

std::string own_user_name() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry == nullptr ? std::to_string(::geteuid()) : entry->pw_name;
}

}  // namespace

// What the launch file says of how a rank uses the node.
void OsRankHost::remember_use(Rank& rank, const LaunchFile& launch) {
  rank.proof = launch.proof;
  rank.watchdog = launch.watchdog;
  if (launch.processes.empty()) return;
  const Environment& environment = launch.processes[0].environment;
  const auto value = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  rank.gpus = launch.gpus;
  const std::string nodes = value("HAI_NNODES");
  rank.is_distributed = !nodes.empty() && nodes != "1";
}

// The node's own validator, as who we are: it needs the machine, and is no user's program.
Result<LaunchRank> OsRankHost::as_validation(LaunchRank order,
                                             const RankDirectory& directory) const {
  order.entrypoint =
      options_.validator_path.empty() ? default_validator_path() : options_.validator_path;
  if (::access(order.entrypoint.c_str(), X_OK) != 0) {
    return invalid_argument("{} cannot be run: {}", order.entrypoint, errno_text(errno));
  }
  order.user = own_user_name();
  if (!options_.validator_options.empty()) order.parameters += ' ' + options_.validator_options;
  order.parameters += " --json " + directory.validation_file();
  return order;
}

ConfinementSettings OsRankHost::confinement_of(const LaunchRank& order) const {
  if (!order.is_validation) return options_.confinement;
  return {.isolation = Isolation::none, .system_users = {own_user_name()}};
}

void OsRankHost::take_measurements(Rank& rank) {
  const Result<std::string> text =
      read_file(rank.directory.validation_file(), kValidationFileBytesMax);
  if (!text.is_ok()) return;
  Result<std::vector<Measurement>> measurements = measurements_from_json(text.value());
  if (measurements.is_ok()) {
    rank.status.measurements = std::move(measurements).value();
  } else {
    log_warning("validation_not_read", {{"rank", rank.status.key}, {"why", measurements.status()}});
  }
}

void OsRankHost::kill_with_evidence(const RankKey& key) {
  const auto found = ranks_.find(key);
  if (found == ranks_.end() || found->second->is_exited() || found->second->kill_wished) return;
  Rank& rank = *found->second;
  if (!options_.take_evidence) return kill(key);
  if (std::exchange(rank.evidence_wished, true)) return;
  auto write_down = [this, key](const std::string& summary, const std::string& text) {
    const auto found = ranks_.find(key);
    if (found == ranks_.end() || found->second->is_exited()) return;
    found->second->evidence = summary;
    write_log(*found->second, text);
    kill(key);
  };
  options_.take_evidence(in_use(rank), scope_.bind(write_down));
}

// In pieces that a shim takes for a request, ends of lines kept.
void OsRankHost::write_log(Rank& rank, std::string_view text) {
  constexpr size_t kPieceMax = 2'000;
  while (!text.empty() && rank.link) {
    size_t size = std::min(text.size(), kPieceMax);
    const size_t end = text.substr(0, size).rfind('\n');
    if (size < text.size() && end != std::string_view::npos) size = end + 1;
    const nlohmann::json request = {{"op", "note"}, {"text", text.substr(0, size)}};
    rank.link->send(request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    text.remove_prefix(size);
  }
}

RankInUse OsRankHost::in_use(const Rank& rank) const {
  return {shim_pid(rank.directory), rank.gpus, rank.is_distributed, rank.cgroups};
}

std::vector<RankInUse> OsRankHost::ranks_in_use() const {
  std::vector<RankInUse> out;
  for (const auto& [key, rank] : ranks_) {
    if (!rank->is_exited()) out.push_back(in_use(*rank));
  }
  return out;
}

}  // namespace hai
