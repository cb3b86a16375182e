#pragma once
// Which server to ask next: whom the last one named as the leader, else the next of the list. And
// whether to go on at all: a failover is waited for, a lone server that is not there is not.

#include <chrono>
#include <string>
#include <vector>

#include "common/time.h"

namespace hai::cli {

// How one try has failed, as far as it tells where to go on.
struct FailedTry {
  std::string leader;            // whom the server named; "" = nobody
  bool will_pass = false;        // a server will lead soon
  bool fate_is_unknown = false;  // the request may have been done: giving up would be a guess
};

class ServerList {
 public:
  explicit ServerList(std::vector<std::string> servers);

  const std::vector<std::string>& all() const { return servers_; }
  const std::string& current() const { return current_; }
  void move_on(const FailedTry& failed);  // for streams: the caller has its own patience

  // One call, from its first try to its answer.
  class Search {
   public:
    Search(ServerList& list, MonoTime now) : list_(list), began_(now) {}
    // False: give up. Otherwise after `pause()` the current server is the one to ask.
    bool go_on(const FailedTry& failed, MonoTime now);
    Duration pause() const { return pause_; }
    // True once, when the user has waited long enough to be told.
    bool should_tell(MonoTime now);

   private:
    ServerList& list_;
    const MonoTime began_;
    Duration pause_{0};
    size_t tries_ = 0;
    int hints_ = 0;  // followed since the last pause
    bool may_wait_ = false;
    bool told_ = false;
  };

 private:
  void next();

  const std::vector<std::string> servers_;
  std::string current_;
};

}  // namespace hai::cli
