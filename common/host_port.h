#pragma once
// "HOST:PORT" as people write it: hai.example:7700, 10.0.0.1:7700, [::1]:7700.

#include <string>
#include <string_view>

namespace hai {

struct HostPort {
  std::string host;  // without brackets
  std::string port;  // "" = none was given
};

HostPort split_host_port(std::string_view address);

// "HOST:PORT", an IPv6 address in brackets.
std::string with_port(const std::string& host, const std::string& port);

// A host and a port that one can connect to.
bool is_host_port(std::string_view address);
// An IPv4 or IPv6 address, and no name.
bool is_address(const std::string& host);
// Without brackets; an IPv4 address written as IPv6, as a socket of IPv6 has it, is that of IPv4.
std::string plain_address(std::string_view address);
// Whom an address counts for where there are limits by address: itself as plain_address() has it,
// of IPv6 its /64, which one machine has to itself.
std::string machine_of(std::string_view address);
// All addresses of a machine, as it is told where to listen.
bool is_wildcard(std::string_view host);
// Only this machine reaches it.
bool is_loopback(std::string_view host);

}  // namespace hai
