#pragma once
// An agent's ports to a world without other agents, ranks that only their test moves, and a record
// that lives in memory.

#include <optional>
#include <vector>

#include "agent/core/peer_port.h"
#include "agent/core/ports.h"

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

class StillRanks final : public RankHost {
 public:
  std::vector<RankStatus> adopt() override { return adopted; }
  void launch(const LaunchRank&, MonoTime) override {}
  void suspend(const SuspendRank&) override {}
  void resume(const RankKey&) override {}
  void kill(const RankKey&) override {}
  void forget(const RankKey&) override {}
  void extend_leases(MonoTime) override {}
  void set_listener(Listener given) override { listener = std::move(given); }
  std::vector<RankStatus> adopted;
  Listener listener;
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
