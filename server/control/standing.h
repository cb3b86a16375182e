#pragma once
// How a server stands: whether it leads, who does otherwise, and how old its answers are. What load
// balancers, clients and people are told; plain values, so that any thread may have a copy.

#include <optional>
#include <string>
#include <string_view>

#include "common/status.h"
#include "common/time.h"

namespace hai {

// Where a server is reached, host:port; "" = not told.
struct ServerAddresses {
  std::string grpc;
  std::string http;
  bool operator==(const ServerAddresses&) const = default;
};

enum class ServerMode { standby, loading, leading, stopped };

// "recovering" tells a server that will lead in a moment from one in trouble.
constexpr std::string_view to_string(ServerMode mode) {
  switch (mode) {
    case ServerMode::leading:
      return "leading";
    case ServerMode::loading:
      return "recovering";
    case ServerMode::standby:
      return "standby";
    case ServerMode::stopped:
      return "stopping";
  }
  return "standby";
}

struct Standing {
  ServerMode mode = ServerMode::standby;
  std::string reason = "starting";      // why it does not lead; "" if it does
  ServerAddresses leader;               // who does, as far as it knows
  std::optional<UnixTime> stale_since;  // it answers reads with what was durable then
  bool store_is_away = false;
  bool operator==(const Standing&) const = default;

  bool is_leading() const { return mode == ServerMode::leading; }
  bool answers_reads() const { return is_leading() || stale_since.has_value(); }
};

// `unavailable`: what a server that does not lead says to who wants something decided.
Status why_not_leading(const Standing& standing);

}  // namespace hai
