#pragma once
// Who sees whose jobs now. Keeps from the events who is in which group, so that a question costs
// what its caller's own groups are, and not a look at all users. On the loop's thread; a copy knows
// what the original knows, and follows its changes.

#include <memory>
#include <utility>

#include "server/api/sight.h"
#include "server/api/visibility.h"
#include "server/control/command.h"
#include "server/model/cluster_state.h"

namespace hai {

class EventFeed;

class Sights {
 public:
  // Until it follows a feed, and that has told of a term, it looks at all users each time.
  explicit Sights(Visibility visibility = kVisibilityDefault);

  // For as long as the feed lives.
  void follow(EventFeed& feed);

  Sight of(const ClusterState& state, const Actor& actor) const;
  Visibility visibility() const { return *visibility_; }
  // From now on; false if it is so already.
  bool change(Visibility visibility) {
    return std::exchange(*visibility_, visibility) != visibility;
  }

 private:
  class Groups;

  std::shared_ptr<Visibility> visibility_;
  std::shared_ptr<Groups> groups_;
};

}  // namespace hai
