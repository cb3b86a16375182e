#include "agent/shim/port_owner.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

namespace hai {
namespace {

constexpr std::string_view kListening = "0A";
// Of a connection that is open at both ends. Of one that its program has closed the kernel says
// nobody's uid, as of one that no program has taken yet.
constexpr std::string_view kOpen[] = {"01", "03"};
// What is reached by 127.0.0.1, as the kernel writes addresses: itself and "any".
constexpr std::string_view kReached[] = {"0100007F", "00000000"};
constexpr std::string_view kReached6[] = {"0000000000000000FFFF00000100007F",
                                          "00000000000000000000000000000000"};

// One line of /proc/net/tcp; see proc(5).
struct Line {
  std::string number, local, remote, state, queues, timer, again;
  int64_t uid = -1;
};

std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream all(text);
  for (std::string row; std::getline(all, row);) {
    std::istringstream fields(row);
    Line line;
    fields >> line.number >> line.local >> line.remote >> line.state >> line.queues >> line.timer >>
        line.again >> line.uid;
    if (!fields.fail()) lines.push_back(std::move(line));  // not the heading
  }
  return lines;
}

bool is_at(std::string_view address, int port) {
  const size_t colon = address.rfind(':');
  return colon != std::string_view::npos &&
         address.substr(colon + 1) == fmt::format("{:04X}", port);
}

bool is_reached(std::string_view address, int port, std::span<const std::string_view> hosts) {
  return is_at(address, port) &&
         std::ranges::count(hosts, address.substr(0, address.rfind(':'))) > 0;
}

struct Seen {
  bool listens = false;
  bool others_listen = false;
  bool is_connected = false;  // to a program of the user, or to none yet
};

Seen look(const std::string& text, std::span<const std::string_view> hosts, int port, int own_port,
          uid_t uid) {
  Seen seen;
  for (const Line& line : lines_of(text)) {
    if (!is_reached(line.local, port, hosts)) continue;
    const bool is_own = line.uid == static_cast<int64_t>(uid);
    if (line.state == kListening) {
      (is_own ? seen.listens : seen.others_listen) = true;
    } else if (is_at(line.remote, own_port)) {
      const bool is_open = std::ranges::count(kOpen, line.state) > 0;
      seen.is_connected = is_open && (is_own || line.uid == 0);
    }
  }
  return seen;
}

}  // namespace

Status check_own_port(const LocalPorts& ports, int port, int own_port, uid_t uid) {
  const Seen v4 = look(ports.tcp, kReached, port, own_port, uid);
  const Seen v6 = look(ports.tcp6, kReached6, port, own_port, uid);
  // Where somebody listens at an address of IPv4, who listens at IPv6's is not reached.
  const Seen& reached = v4.listens || v4.others_listen ? v4 : v6;
  if (reached.others_listen)
    return permission_denied("port {} there is one of another user's programs", port);
  if (!reached.listens || !(v4.is_connected || v6.is_connected))
    return unavailable("it cannot be seen whose program answers at port {} there", port);
  return ok();
}

}  // namespace hai
