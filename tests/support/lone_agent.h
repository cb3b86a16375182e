#pragma once
// An agent's ports to a world without other agents, and a record that lives in memory.

#include <optional>
#include <vector>

#include "agent/core/peer_port.h"

namespace hai {

class MutePeers final : public PeerPort {
 public:
  void start(Listener given) override { listener = std::move(given); }
  void prepare(const std::vector<Peer>&) override {}
  void ask(int64_t round, const std::vector<Peer>& peers) override {
    last_round = round;
    asked = peers;
    ++rounds;
  }
  Listener listener;
  int64_t last_round = 0;
  int rounds = 0;
  std::vector<Peer> asked;  // in the last round
};

class MemoryRecord final : public AgentRecordKeeper {
 public:
  std::optional<AgentRecord> load() override { return record; }
  Status save(const AgentRecord& given) override {
    if (!is_writable) return internal("no space left on device");
    record = given;
    return ok();
  }
  std::optional<AgentRecord> record;
  bool is_writable = true;
};

}  // namespace hai
