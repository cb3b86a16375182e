// Datagrams of agents: anything from anybody, and, since only who has the key gets past the
// signature, any text that is rightly signed.

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "agent/rpc/peer_message.h"
#include "tests/fuzz/fuzz_target.h"

namespace hai::fuzz {
namespace {

constexpr std::string_view kKey = "the key of the fuzzer";

std::string with_signature(std::string_view text) {
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), kKey.data(), static_cast<int>(kKey.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, &size);
  return std::string(text) + std::string(reinterpret_cast<char*>(mac), size);
}

}  // namespace
}  // namespace hai::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hai;
  using namespace hai::fuzz;
  const std::string_view text = text_of(data, size);
  decode_peer_message(text, kKey);
  const std::string own = with_signature(text);
  const std::optional<PeerMessage> message = decode_peer_message(own, kKey);
  if (!message) return 0;
  if (own.size() > kPeerMessageBytesMax) broken("a datagram that is too large is taken");
  if (encode(*message, kKey) != own) broken("it comes back changed");
  std::string forged = own;
  forged[size / 2] = static_cast<char>(forged[size / 2] ^ 1);
  if (decode_peer_message(forged, kKey)) broken("a datagram that was changed on the way is taken");
  return 0;
}
