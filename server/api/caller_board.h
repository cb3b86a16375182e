#pragma once
// Which tokens are known, for threads other than the controller's: what comes from nobody known is
// refused before it is read. Kept on the loop's thread; asked by whoever takes a request. Who may
// do what is still decided on the loop, by the state itself.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/control/command.h"
#include "server/model/cluster_state.h"

namespace hai {

// Whom a token names, whether or not it lets him in.
struct CallerName {
  std::string user;   // "" = nobody known
  std::string token;  // its id
};

class CallerBoard {
 public:
  // An observer of the event feed: takes the state's people anew where the events are about them.
  void follow(const std::vector<Event>& durable, const ClusterState& state);
  // This server decides and answers for nobody any more.
  void forget();

  // ok, or why the caller is refused: unauthenticated or permission_denied, in the words of
  // authenticate(). Before a leader's first events nobody is known to be nobody: ok.
  Status admit(const Caller& caller) const;
  // Whether the caller is known for sure: more may be read of him than of others.
  bool knows(const Caller& caller) const;
  // For the audit log.
  CallerName name_of(const Caller& caller) const;

 private:
  struct Known {
    Status status;  // how he is admitted
    std::string user;
  };
  using Callers = std::map<std::string, Known>;  // by token hash
  std::shared_ptr<const Callers> callers() const;

  mutable std::mutex mutex_;
  std::shared_ptr<const Callers> callers_;
};

}  // namespace hai
