#include "server/rpc/connection_table.h"

#include <sys/socket.h>

#include <utility>

namespace hai {
namespace {

// 0 = no socket (any more).
uint64_t cookie_of(int fd) {
  uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return ::getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address.starts_with("::ffff:127.");
}

}  // namespace

bool ConnectionTable::has_room(const std::string& address) const {
  if (is_full()) return false;
  if (is_loopback(address)) return true;
  const auto found = per_address_.find(address);
  return found == per_address_.end() || found->second < limits_.per_address;
}

void ConnectionTable::add(int fd, const std::string& address) {
  if (const auto old = connections_.find(fd); old != connections_.end()) remove(old);
  connections_[fd] = {cookie_of(fd), address};
  ++per_address_[address];
}

void ConnectionTable::remove(Connections::iterator connection) {
  const auto count = per_address_.find(connection->second.address);
  if (--count->second == 0) per_address_.erase(count);
  connections_.erase(connection);
}

void ConnectionTable::look() {
  for (auto it = connections_.begin(); it != connections_.end();) {
    const auto connection = it++;
    if (cookie_of(connection->first) != connection->second.cookie) remove(connection);
  }
}

}  // namespace hai
