#include "agent/os/agent_record_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/os/files.h"
#include "agent/os/whole_json.h"
#include "common/boot_clock.h"
#include "common/hex.h"

namespace hai {

namespace {

using Json = nlohmann::json;
constexpr size_t kRecordBytesMax = 1 << 20;
constexpr Duration kFar = 24h * 365 * 1'000;  // sums with it fit

Json read(const std::string& path) {
  Result<std::string> text = read_file(path, kRecordBytesMax);
  return text.is_ok() ? Json::parse(text.value(), nullptr, false) : Json();
}

int64_t number(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

}  // namespace

AgentRecordFile::AgentRecordFile(const std::string& data_dir, std::string boot_id, Loop& loop)
    : path_(data_dir + "/agent.json"), boot_id_(std::move(boot_id)), loop_(loop) {
  const Json json = read(path_);
  if (json.is_object()) peer_port_ = static_cast<int>(number(json, "peer_port"));
  if (peer_port_ < 0 || peer_port_ > 65'535) peer_port_ = 0;
}

std::optional<AgentRecord> AgentRecordFile::load() {
  try {
    const Json json = read(path_);
    if (!json.is_object() || boot_id_.empty()) return {};
    AgentRecord record;
    record.seen = {Epoch{number(json, "seen_epoch")}, number(json, "seen_seq")};
    record.seen_proof = from_hex(json.value("seen_proof", std::string())).value_or("");
    // Of another boot neither ranks nor leases live on. What was seen of the log stays true: after
    // a power cut only the nodes know that the store has come back without its last writes.
    if (json.at("boot_id") != boot_id_) return record;
    const auto time = [&](const Json& micros) {
      const MonoTime until{std::min(Duration(whole(micros)), kFar)};
      return until > MonoTime{} ? loop_.now() + (until - boot_now()) : MonoTime{};
    };
    record.lease_until = time(json.at("lease_until_boottime_us"));
    record.ranks_until = time(json.value("ranks_until_boottime_us", Json(0)));
    record.fence = Duration(whole(json.at("fence_us")));
    record.peers.version = whole(json.at("peers_version"));
    for (const Json& peer : json.at("peers")) {
      record.peers.peers.push_back({peer.at("node").get<std::string>(),
                                    peer.at("address").get<std::string>(),
                                    whole_int(peer.at("port"))});
    }
    return record;
  } catch (const std::exception&) {
    return {};  // Without it the agent is as new: it vouches for nothing until its next grant.
  }
}

Status AgentRecordFile::save(const AgentRecord& record) {
  Json peers = Json::array();
  for (const Peer& peer : record.peers.peers) {
    peers.push_back({{"node", peer.node}, {"address", peer.address}, {"port", peer.port}});
  }
  const auto micros = [&](MonoTime until) {
    if (until <= MonoTime{}) return int64_t{0};
    return (boot_now() + (until - loop_.now())).time_since_epoch().count();
  };
  const Json json = {{"boot_id", boot_id_},
                     {"lease_until_boottime_us", micros(record.lease_until)},
                     {"ranks_until_boottime_us", micros(record.ranks_until)},
                     {"fence_us", record.fence.count()},
                     {"seen_epoch", record.seen.epoch.value},
                     {"seen_seq", record.seen.seq},
                     {"seen_proof", to_hex(record.seen_proof)},
                     {"peers_version", record.peers.version},
                     {"peers", peers},
                     {"peer_port", peer_port_}};
  return write_file_atomic(path_, json.dump(-1, ' ', false, Json::error_handler_t::replace), 0600,
                           Durability::survives_crash_of_program);
}

}  // namespace hai
