#include "agent/peer_key_file.h"

#include <nlohmann/json.hpp>

#include "agent/os/files.h"
#include "common/hex.h"

namespace hai {
namespace {

using Json = nlohmann::json;
constexpr size_t kFileBytesMax = 64 << 10;

std::string path_in(const std::string& data_dir) { return data_dir + "/peer_keys"; }

// Throws on what is no key.
std::string key_of(const Json& digits) { return from_hex(digits.get<std::string>()).value(); }

}  // namespace

PeerKeys load_peer_keys(const std::string& data_dir) {
  try {
    const Result<std::string> text = read_file(path_in(data_dir), kFileBytesMax);
    if (!text.is_ok()) return {};
    const Json json = Json::parse(text.value());
    PeerKeys keys{.own = key_of(json.at("own"))};
    for (const auto& [node, key] : json.at("peers").items()) {
      keys.peers[node] = key_of(key);
    }
    return keys;
  } catch (const std::exception&) {
    return {};  // The next leader tells them again.
  }
}

Status save_peer_keys(const std::string& data_dir, const PeerKeys& keys) {
  Json peers = Json::object();
  for (const auto& [node, key] : keys.peers) peers[node] = to_hex(key);
  const Json json = {{"own", to_hex(keys.own)}, {"peers", peers}};
  return write_file_atomic(path_in(data_dir), json.dump(), 0600,
                           Durability::survives_crash_of_program);
}

}  // namespace hai
