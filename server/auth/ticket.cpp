#include "server/auth/ticket.h"

#include <openssl/rand.h>

#include "common/check.h"
#include "common/whole_number.h"
#include "server/auth/base64url.h"

namespace hai {

namespace {

constexpr size_t kTicketMax = 8 * 1024;

std::string random_bytes() {
  std::string bytes(32, '\0');
  // Without random numbers there is no safe way on.
  CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()),
                   static_cast<int>(bytes.size())) == 1);
  return bytes;
}

}  // namespace

std::string random_word() { return to_base64url(random_bytes()); }

TicketSeal::TicketSeal() : sealer_(Sealer::make("tickets", {random_bytes()}).value()) {}

std::string TicketSeal::seal(std::string_view purpose, std::string_view text, UnixTime ends) const {
  return sealer_.seal(purpose, std::to_string(to_micros(ends)) + ":" + std::string(text));
}

std::optional<std::string> TicketSeal::open(std::string_view purpose, std::string_view ticket,
                                            UnixTime now) const {
  if (ticket.size() > kTicketMax) return std::nullopt;
  const Result<std::string> opened = sealer_.open(purpose, ticket);
  if (!opened.is_ok()) return std::nullopt;
  const std::string& plain = opened.value();
  const size_t colon = plain.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::optional<int64_t> ends = whole_number(std::string_view(plain).substr(0, colon));
  if (!ends || unix_micros(*ends) <= now) return std::nullopt;
  return plain.substr(colon + 1);
}

}  // namespace hai
