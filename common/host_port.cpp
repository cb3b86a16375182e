#include "common/host_port.h"

#include <arpa/inet.h>

#include <optional>

#include "common/whole_number.h"

namespace hai {

HostPort split_host_port(std::string_view address) {
  const bool is_bracketed = address.starts_with('[') && address.ends_with(']');
  const size_t colon = is_bracketed ? std::string_view::npos : address.rfind(':');
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {.host = std::string(host),
          .port = colon == std::string_view::npos ? "" : std::string(address.substr(colon + 1))};
}

std::string with_port(const std::string& host, const std::string& port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? "[" + host + "]:" + port : host + ":" + port;
}

bool is_address(const std::string& host) {
  in6_addr bytes{};
  return ::inet_pton(AF_INET, host.c_str(), &bytes) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &bytes) == 1;
}

std::string plain_address(std::string_view address) {
  constexpr std::string_view kMapped = "::ffff:";
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  if (address.starts_with(kMapped) && address.find('.') != std::string_view::npos) {
    address.remove_prefix(kMapped.size());
  }
  return std::string(address);
}

std::string machine_of(std::string_view address) {
  const std::string plain = plain_address(address);
  in6_addr bytes{};
  if (::inet_pton(AF_INET6, plain.c_str(), &bytes) != 1) return plain;
  for (int i = 8; i < 16; ++i) bytes.s6_addr[i] = 0;
  char text[INET6_ADDRSTRLEN];
  return ::inet_ntop(AF_INET6, &bytes, text, sizeof text);
}

bool is_host_port(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::optional<int> port = whole_number<int>(address.substr(colon + 1));
  return port && *port >= 1 && *port <= 65'535;
}

bool is_wildcard(std::string_view host) {
  const std::string plain = plain_address(host);
  return plain == "0.0.0.0" || plain == "::" || plain == "*";
}

bool is_loopback(std::string_view host) {
  return host.starts_with("127.") || host == "::1" || host == "localhost" ||
         host.starts_with("::ffff:127.");
}

}  // namespace hai
