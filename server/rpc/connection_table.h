#pragma once
// Which connections were handed to gRPC and still live, and which of them makes room when there are
// too many: the oldest that has proved nothing. gRPC closes connections without a word, so a socket
// counts until its number is seen again or a look shows that it is another one's. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "server/rpc/known_peers.h"

namespace hai {

struct ConnectionLimits {
  size_t all = 20'000;         // agents, tools and people
  size_t per_address = 5'000;  // of one machine; this one's own loopback may have all
};

// Where a connection comes from.
struct Origin {
  std::string name;     // as gRPC writes it, with its port
  std::string machine;  // whom it counts for: an IPv4 address, or the /64 of an IPv6 one
  bool is_loopback = false;
};
Origin origin_of(const std::string& address, int port);
// Whom a call counts for, by its peer as gRPC writes it.
std::string machine_of_peer(const std::string& peer);

class ConnectionTable {
 public:
  ConnectionTable(ConnectionLimits limits, KnownPeers& known) : limits_(limits), known_(known) {}

  // Whether one more is within the limits: from anywhere, from this machine.
  bool is_full() const { return connections_.size() >= limits_.all; }
  bool has_room(const Origin& peer) const;
  // Ends the oldest connection that has proved nothing, of the same machine if that has too many.
  // If all have proved something, the oldest of the machine that has the most, where it is the
  // whole that is full. False if nothing was ended.
  bool make_room(const Origin& peer);
  void add(int fd, const Origin& peer);
  // The number of the connection that came last; they are counted from 1.
  uint64_t last_number() const { return last_number_; }
  // Ends those up to this number that have proved nothing.
  void end_strangers_until(uint64_t number);
  // Finds those that are gone: a system call for each, so a few times a second at most.
  void look();
  size_t size() const { return connections_.size(); }

 private:
  using ByAge = std::map<uint64_t, int>;  // the oldest first; file descriptors
  // An agent has one and its tools a few: a machine with no more makes room for no other.
  static constexpr size_t kFewOfAMachine = 16;
  struct Connection {
    uint64_t cookie = 0;  // of the kernel, another one for each socket
    uint64_t number = 0;  // in the order in which they came
    Origin peer;
  };
  struct Machine {
    ByAge connections;
    ByAge strangers;
  };
  using Connections = std::map<int, Connection>;  // by file descriptor
  void remove(Connections::iterator connection);
  bool is_over_its_share(const Origin& peer) const;
  bool end_first(ByAge& strangers);  // false: it is gone, or no stranger, and is left out
  bool end_oldest(ByAge& strangers);
  bool end_one_of_the_most();

  const ConnectionLimits limits_;
  KnownPeers& known_;
  Connections connections_;
  std::map<std::string, Machine> machines_;
  ByAge strangers_;  // may have proved something since
  uint64_t last_number_ = 0;
};

}  // namespace hai
