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
// Whom an address counts for where there are limits by address: itself, of IPv6 its /64, which one
// machine has to itself; an IPv4 address written as IPv6 is that of IPv4. Brackets are taken off.
std::string machine_of(std::string_view address);
// Only this machine reaches it.
bool is_loopback(std::string_view host);

}  // namespace hai
