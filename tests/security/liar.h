#pragma once
// The agent of a node whose certificate is good, and the lies that it tells.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/gateway_world.h"

namespace hai::test {

inline constexpr const char* kLiar = "node-2";

// The agent of node-2, which has told the truth until now: a rank of job 2 runs there.
class Liar {
 public:
  explicit Liar(GatewayWorld& world) : world_(world) { dial(); }

  void dial() {
    stream = world_.dial(kLiar);
    sequence = 0;
    world_.say(stream, GatewayWorld::hello_of(kLiar));
    tell([](v1::AgentReport& report) { GatewayWorld::add_facts(kLiar, report); });
  }
  // A report as it should be, but for what `lie` makes of it.
  void tell(const std::function<void(v1::AgentReport&)>& lie) {
    take_orders();
    v1::AgentMessage message = GatewayWorld::report_of(kLiar, ++sequence);
    message.mutable_report()->set_granted_sequence(granted);
    if (own) add_rank(*message.mutable_report(), *own);
    lie(*message.mutable_report());
    say(message);
  }
  void tell_truth() {
    tell([](v1::AgentReport&) {});
  }
  void say(const v1::AgentMessage& message) {
    bytes_said += message.ByteSizeLong();
    world_.say(stream, message);
    world_.run(200ms);
  }
  // Its own rank, of which it may say what it likes.
  void tell_of_own(const std::function<void(v1::RankStatus&)>& lie) {
    tell([&](v1::AgentReport& report) { lie(*report.mutable_ranks(0)); });
  }
  static v1::RankStatus& add_rank(v1::AgentReport& report, const RankKey& key,
                                  v1::RankPhase phase = v1::RANK_PHASE_RUNNING) {
    v1::RankStatus& rank = *report.add_ranks();
    rank.mutable_key()->set_job(key.job.value);
    rank.mutable_key()->set_attempt(key.attempt);
    rank.mutable_key()->set_rank(key.rank);
    rank.set_phase(phase);
    rank.set_cause(v1::EXIT_CAUSE_NONE);
    return rank;
  }
  static void exit_of(v1::RankStatus& rank, int code) {
    rank.set_phase(v1::RANK_PHASE_EXITED);
    rank.set_cause(v1::EXIT_CAUSE_PROGRAM);
    rank.set_exit_code(code);
  }

  // What it was told: the rank that it has to run, and that its lease was granted.
  void take_orders() {
    for (const AgentOrder& order : std::exchange(stream->orders, {})) {
      if (const auto* launch = std::get_if<LaunchRank>(&order.body)) {
        own = launch->key;
        own_proof = launch->proof;
      }
      if (const auto* grant = std::get_if<GrantLease>(&order.body))
        granted = grant->report_sequence;
    }
  }

  std::shared_ptr<AgentEnd> stream;
  int64_t sequence = 0;
  int64_t granted = 0;
  std::optional<RankKey> own;
  std::string own_proof;  // of its launch
  size_t bytes_said = 0;

 private:
  GatewayWorld& world_;
};

// What comes of a lie.
enum class Outcome {
  cut,      // the stream ends with a reason
  ignored,  // or believed of itself alone
  term,     // the leader takes another term, since the lie could be true
  pause,    // it could be true that the database has lost something: nothing new starts anywhere
            // until the node takes it back or an operator fences it (docs/security.md)
};

struct Lie {
  std::string name;
  std::function<void(Liar&)> tell;
  Outcome outcome;
  std::string reason = "";  // words of it, where the outcome is `cut`
  // Where the servers have no CA, and nodes can prove nothing: that may be believed.
  std::optional<Outcome> unless_proved = {};
};

std::vector<Lie> all_lies();

}  // namespace hai::test
