#pragma once
// What an agent process leaves to the next one, in one small file: DATA/agent.json. Valid for as
// long as the machine is up, since no rank outlives that; the peer port is kept longer, so that
// other agents find this one where they were told. Loop thread only.

#include <string>

#include "agent/core/peer_port.h"
#include "common/loop.h"

namespace hai {

class AgentRecordFile final : public AgentRecordKeeper {
 public:
  // `boot_id` as in the node's facts.
  AgentRecordFile(const std::string& data_dir, std::string boot_id, Loop& loop);

  std::optional<AgentRecord> load() override;
  Status save(const AgentRecord& record) override;

  int peer_port() const { return peer_port_; }  // 0 = none kept
  void set_peer_port(int port) { peer_port_ = port; }

 private:
  const std::string path_;
  const std::string boot_id_;
  Loop& loop_;
  int peer_port_ = 0;
};

}  // namespace hai
