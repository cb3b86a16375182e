#pragma once
// What an agent process leaves to the next one of its peers' keys: DATA/peer_keys, mode 0600, so
// that it can ask them although nobody leads who could tell it.

#include <string>

#include "common/status.h"
#include "common/tls/peer_keys.h"

namespace hai {

// None if there is no such file, or none that can be read.
PeerKeys load_peer_keys(const std::string& data_dir);
Status save_peer_keys(const std::string& data_dir, const PeerKeys& keys);

}  // namespace hai
