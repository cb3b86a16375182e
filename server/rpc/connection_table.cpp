#include "server/rpc/connection_table.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "common/host_port.h"

namespace hai {
namespace {

// 0 = no socket (any more).
uint64_t cookie_of(int fd) {
  uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return ::getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

// gRPC may close the socket at any moment, and its number may then be another's: so a number of our
// own is taken first, and only then looked whose it is.
void end_if_still(int fd, uint64_t cookie) {
  const int own = ::dup(fd);
  if (own < 0) return;
  if (cookie_of(own) == cookie) ::shutdown(own, SHUT_RDWR);
  ::close(own);
}

}  // namespace

Origin origin_of(const std::string& address, int port) {
  const std::string plain = plain_address(address);
  const bool is_ipv6 = plain.find(':') != std::string::npos;
  return {.name = is_ipv6 ? fmt::format("ipv6:%5B{}%5D:{}", plain, port)
                          : fmt::format("ipv4:{}:{}", plain, port),
          .machine = machine_of(plain),
          .is_loopback = is_loopback(plain)};
}

std::string machine_of_peer(const std::string& peer) { return machine_of(host_of_peer(peer)); }

bool ConnectionTable::is_over_its_share(const Origin& peer) const {
  if (peer.is_loopback) return false;
  const auto found = machines_.find(peer.machine);
  return found != machines_.end() && found->second.connections.size() >= limits_.per_address;
}

bool ConnectionTable::has_room(const Origin& peer) const {
  return !is_full() && !is_over_its_share(peer);
}

bool ConnectionTable::make_room(const Origin& peer) {
  if (is_over_its_share(peer)) return end_oldest(machines_.at(peer.machine).strangers);
  return end_oldest(strangers_) || end_one_of_the_most();
}

bool ConnectionTable::end_first(ByAge& strangers) {
  const auto [number, fd] = *strangers.begin();
  const auto connection = connections_.find(fd);
  const bool is_it = connection != connections_.end() && connection->second.number == number;
  if (!is_it || known_.knows(connection->second.peer.name)) {
    strangers.erase(strangers.begin());
    return false;
  }
  end_if_still(fd, connection->second.cookie);
  remove(connection);
  return true;
}

bool ConnectionTable::end_oldest(ByAge& strangers) {
  while (!strangers.empty()) {
    if (end_first(strangers)) return true;
  }
  return false;
}

bool ConnectionTable::end_one_of_the_most() {
  const auto most = std::ranges::max_element(
      machines_, {}, [](const auto& machine) { return machine.second.connections.size(); });
  if (most == machines_.end() || most->second.connections.size() <= kFewOfAMachine) return false;
  const auto connection = connections_.find(most->second.connections.begin()->second);
  end_if_still(connection->first, connection->second.cookie);
  remove(connection);
  return true;
}

void ConnectionTable::end_strangers_until(uint64_t number) {
  while (!strangers_.empty() && strangers_.begin()->first <= number) end_first(strangers_);
}

void ConnectionTable::add(int fd, const Origin& peer) {
  if (const auto old = connections_.find(fd); old != connections_.end()) remove(old);
  known_.arrived(peer.name);
  const uint64_t number = ++last_number_;
  connections_[fd] = {.cookie = cookie_of(fd), .number = number, .peer = peer};
  strangers_.emplace(number, fd);
  Machine& machine = machines_[peer.machine];
  machine.connections.emplace(number, fd);
  machine.strangers.emplace(number, fd);
}

void ConnectionTable::remove(Connections::iterator connection) {
  const auto& [cookie, number, peer] = connection->second;
  strangers_.erase(number);
  const auto machine = machines_.find(peer.machine);
  machine->second.strangers.erase(number);
  machine->second.connections.erase(number);
  if (machine->second.connections.empty()) machines_.erase(machine);
  known_.forget(peer.name);
  connections_.erase(connection);
}

void ConnectionTable::look() {
  std::unordered_set<std::string> living;
  for (auto it = connections_.begin(); it != connections_.end();) {
    const auto connection = it++;
    if (cookie_of(connection->first) != connection->second.cookie) {
      remove(connection);
    } else {
      living.insert(connection->second.peer.name);
    }
  }
  known_.forget_if([&living](const std::string& peer) { return !living.contains(peer); });
}

}  // namespace hai
