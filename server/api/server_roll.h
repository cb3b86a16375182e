#pragma once
// Keeps this server on the store's list of servers and tells what is on it, whether it leads or not
// (common/server_store.h): within a second of its start, then every quarter of a minute. On the
// loop's thread.

#include <functional>
#include <string>
#include <vector>

#include "common/loop.h"
#include "common/loop_scope.h"
#include "common/server_store.h"

namespace hai {

class ServerRoll {
 public:
  using Told = std::function<void(const std::vector<std::string>& servers)>;
  static constexpr Duration kFirst = 1s;
  static constexpr Duration kPeriod = 15s;
  // One that was switched off for weeks is still known; one that is gone for good costs nodes that
  // look for a leader a try in each round until then.
  static constexpr Duration kKeep = 30 * Duration(24h);

  // `own`: host:port of gRPC; "" = not told. `store` may be null: then there is no list.
  ServerRoll(Loop& loop, ServerStore* store, std::string own, Told told);
  ~ServerRoll();
  ServerRoll(const ServerRoll&) = delete;
  ServerRoll& operator=(const ServerRoll&) = delete;

 private:
  void arm(Duration pause);
  void tick();

  Loop& loop_;
  ServerStore* const store_;
  const std::string own_;
  const Told told_;
  TimerId timer_ = 0;
  LoopScope scope_;
};

}  // namespace hai
