#pragma once
// Which connections were handed to gRPC and still live. gRPC closes them without a word, so a
// socket counts until its number is seen again or a look shows that it is another one's. Not
// thread-safe.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace hai {

struct ConnectionLimits {
  size_t all = 20'000;         // agents, tools and people
  size_t per_address = 5'000;  // of one machine; this one's own loopback may have all
};

class ConnectionTable {
 public:
  explicit ConnectionTable(ConnectionLimits limits) : limits_(limits) {}

  // Whether one more is within the limits: from anywhere, from this address.
  bool is_full() const { return connections_.size() >= limits_.all; }
  bool has_room(const std::string& address) const;
  void add(int fd, const std::string& address);
  // Drops connections that are closed. Costs a system call for each: a few times a second at most.
  void look();
  size_t size() const { return connections_.size(); }

 private:
  struct Connection {
    uint64_t cookie = 0;  // of the kernel, another one for each socket
    std::string address;
  };
  using Connections = std::map<int, Connection>;  // by file descriptor
  void remove(Connections::iterator connection);

  const ConnectionLimits limits_;
  Connections connections_;
  std::map<std::string, size_t> per_address_;
};

}  // namespace hai
