#pragma once
// Which nodes' certificates are believed no more, for threads other than the controller's. Kept on
// the loop's thread, from what is durable; asked wherever an agent shows a certificate.
//
// Revoked is what was issued until then. A certificate does not say when it was issued, but when it
// begins, which is earlier: so whatever was issued before, begins before. What the server issues
// afterwards begins after the second of the revocation, and it issues nothing for the node within
// that second (server/api/enrollment.cpp): so whatever was issued afterwards, begins afterwards.
// With that, "begins no later than it was revoked" is exactly "issued no later". Only `hai-server
// ca issue` knows of no revocation: for a node that was revoked within the hour by which it lets
// certificates begin earlier, it makes one that is not believed.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"
#include "server/model/cluster_state.h"

namespace hai {

// What a node is told whose certificate is believed no more.
Status identity_revoked(const std::string& node, UnixTime at);

class IdentityBoard {
 public:
  // An observer of the event feed. True if there is something new: then open streams are to be
  // judged again.
  bool follow(const std::vector<Event>& durable, const ClusterState& state);

  // ok, or permission_denied: why a certificate of the node that begins then is not believed.
  Status admit(const std::string& node, UnixTime begins) const;

 private:
  using Revoked = std::map<std::string, UnixTime>;
  mutable std::mutex mutex_;
  std::shared_ptr<const Revoked> revoked_ = std::make_shared<Revoked>();
};

}  // namespace hai
