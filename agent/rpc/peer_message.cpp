#include "agent/rpc/peer_message.h"

#include <openssl/crypto.h>

#include "common/tls/peer_keys.h"

namespace hai {

namespace {

constexpr std::string_view kMagic = "hai1";
constexpr size_t kMacBytes = 32;

void put_number(std::string& out, uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
}

void put_name(std::string& out, std::string_view name) {
  out += static_cast<char>(name.size());
  out += name;
}

// Reads from the front; after something that is not there, `is_good` is false for ever.
struct Reader {
  std::string_view rest;
  bool is_good = true;

  std::string_view take(size_t size) {
    if (rest.size() < size) is_good = false;
    if (!is_good) return {};
    std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }
  uint64_t number() {
    uint64_t value = 0;
    for (unsigned char byte : take(8)) value = value << 8 | byte;
    return value;
  }
  uint8_t byte() {
    const std::string_view taken = take(1);
    return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
  }
  std::string name() { return std::string(take(byte())); }
};

}  // namespace

std::string encode(const PeerMessage& message, std::string_view key) {
  std::string out(kMagic);
  out += message.is_answer ? 'A' : 'Q';
  put_number(out, message.nonce);
  put_number(out, static_cast<uint64_t>(message.round));
  out += static_cast<char>(message.answer);
  put_name(out, message.from);
  put_name(out, message.to);
  out += hmac_sha256(key, out);
  return out;
}

std::optional<PeerMessage> decode_peer_message(std::string_view datagram, std::string_view key) {
  if (datagram.size() < kMacBytes || datagram.size() > kPeerMessageBytesMax) return std::nullopt;
  const std::string_view text = datagram.substr(0, datagram.size() - kMacBytes);
  const std::string mac = hmac_sha256(key, text);
  if (CRYPTO_memcmp(mac.data(), datagram.data() + text.size(), kMacBytes) != 0) return std::nullopt;
  return read_unproved(datagram);
}

std::optional<PeerMessage> read_unproved(std::string_view datagram) {
  if (datagram.size() < kMacBytes || datagram.size() > kPeerMessageBytesMax) return std::nullopt;
  Reader reader{datagram.substr(0, datagram.size() - kMacBytes)};
  if (reader.take(kMagic.size()) != kMagic) return std::nullopt;
  PeerMessage message;
  const uint8_t kind = reader.byte();
  message.is_answer = kind == 'A';
  message.nonce = reader.number();
  message.round = static_cast<int64_t>(reader.number());
  const uint8_t answer = reader.byte();
  message.from = reader.name();
  message.to = reader.name();
  const bool is_whole = reader.is_good && reader.rest.empty() && (kind == 'A' || kind == 'Q') &&
                        answer <= static_cast<uint8_t>(LeaseAnswer::dead);
  if (!is_whole) return std::nullopt;
  message.answer = static_cast<LeaseAnswer>(answer);
  return message;
}

}  // namespace hai
