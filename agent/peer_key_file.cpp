#include "agent/peer_key_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agent/os/files.h"

namespace hai {
namespace {

using Json = nlohmann::json;
constexpr size_t kFileBytesMax = 64 << 10;

std::string path_in(const std::string& data_dir) { return data_dir + "/peer_keys"; }

std::string to_hex(std::string_view bytes) {
  std::string digits;
  for (const unsigned char byte : bytes) digits += fmt::format("{:02x}", byte);
  return digits;
}

// Throws what std::stoul throws.
std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoul(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace

PeerKeys load_peer_keys(const std::string& data_dir) {
  try {
    const Result<std::string> text = read_file(path_in(data_dir), kFileBytesMax);
    if (!text.is_ok()) return {};
    const Json json = Json::parse(text.value());
    PeerKeys keys{.own = from_hex(json.at("own").get<std::string>())};
    for (const auto& [node, key] : json.at("peers").items()) {
      keys.peers[node] = from_hex(key.get<std::string>());
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
