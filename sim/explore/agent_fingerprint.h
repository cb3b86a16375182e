#pragma once
// All that an agent process knows, for fingerprints.

#include "agent/core/agent.h"
#include "sim/explore/fingerprint.h"

namespace hai {

void add_status(Fingerprint& out, const RankStatus& status);

class AgentFingerprint {
 public:
  // `now` by the node's clock. Versions of lists of peers count from `version`, sequences of
  // reports from the agent's last one.
  static void add(Fingerprint& out, const Agent& agent, MonoTime now, Epoch epoch, int64_t version);
};

}  // namespace hai
