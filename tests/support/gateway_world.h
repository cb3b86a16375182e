#pragma once
// A leading controller behind the gateway of agents' streams, in virtual time and without a
// network: what an agent says comes as bytes of the protocol, and passes every check that stands
// between a stream and the state. For tests of agents that lie.

#include <memory>
#include <string>
#include <vector>

#include "hai/v1/agent.pb.h"
#include "server/control/engine/controller.h"
#include "server/rpc/agent_gateway.h"
#include "server/store/mem_store.h"
#include "sim/virtual_loop.h"

namespace hai::test {

class GatewayWorld;

// The server's end of one agent's stream, and what the agent has been told over it.
class AgentEnd final : public AgentStream {
 public:
  AgentEnd(GatewayWorld& world, std::string proven) : world_(world), proven_(std::move(proven)) {}

  Status check_is(const std::string& node) const override;
  void accept(int version) override {
    is_accepted = true;
    protocol = version;
  }
  void send(const AgentOrder& order, PlacesCodec& codec) override;
  void send(int64_t request_id, const LogRequest& request) override;
  void send(const ShellRequest&) override {}
  void name_servers(const std::vector<std::string>&) override {}
  void close(const Status& reason) override;

  bool is_accepted = false;
  int protocol = 0;
  bool is_over = false;
  Status reason = ok();            // why it is over
  std::vector<AgentOrder> orders;  // since they were last taken
  size_t bytes_sent = 0;

 private:
  friend class GatewayWorld;
  GatewayWorld& world_;
  const std::string proven_;  // the node of its certificate
  AgentStream::Events events_;
  bool said_hello_ = false;
};

// Keeps the ranks that it is told to, and says so with each heartbeat, with what proves it.
class HonestAgent {
 public:
  HonestAgent(GatewayWorld& world, std::string node);
  void beat();
  const std::map<RankKey, RankStatus>& ranks() const { return ranks_; }
  const AgentEnd& stream() const { return *stream_; }

 private:
  void obey(const AgentOrder& order);

  GatewayWorld& world_;
  const std::string node_;
  std::shared_ptr<AgentEnd> stream_;
  std::map<RankKey, RankStatus> ranks_;
  LogPosition seen_;
  std::string seen_proof_;
  int64_t sequence_ = 0;
  int64_t granted_ = 0;
};

class GatewayWorld {
 public:
  static constexpr const char* kUser = "ann";  // an administrator, with quota for everything
  static constexpr const char* kSecret = "of the servers";

  // `proves`: the servers have a CA, so that nodes can prove what they were told.
  explicit GatewayWorld(bool proves = true);
  ~GatewayWorld();  // whose streams have not ended ends them

  // A stream of an agent whose certificate is of this node.
  std::shared_ptr<AgentEnd> dial(const std::string& node);
  // As the stream's reader does: what cannot be read, or comes out of order, ends the stream.
  void say(const std::shared_ptr<AgentEnd>& stream, const v1::AgentMessage& message);
  void hang_up(const std::shared_ptr<AgentEnd>& stream);

  // A job of one node.
  static JobSpec spec_of(const std::string& name);
  static v1::AgentMessage hello_of(const std::string& node);
  static v1::AgentMessage report_of(const std::string& node, int64_t sequence);
  static void add_facts(const std::string& node, v1::AgentReport& report);

  // The honest agents beat meanwhile.
  void run(Duration time);
  Status command(Command command);
  Status submit(const JobSpec& spec) { return command(SubmitJob{spec, ""}); }

  Controller& controller() { return *controller_; }
  const ClusterState& state() const { return controller_->state(); }
  const MemDatabase& database() const { return database_; }
  // The database is as it was so many transactions ago, and a server leads that never knew more.
  void lose(size_t transactions);
  std::vector<std::unique_ptr<HonestAgent>> honest;

 private:
  friend class AgentEnd;
  void start_server();

  std::vector<std::weak_ptr<AgentEnd>> dialed_;
  Timeline timeline_;
  VirtualLoop database_loop_{timeline_};
  VirtualLoop loop_{timeline_};
  MemDatabase database_{database_loop_, {.past_kept = 50}};
  MemStore store_{loop_, database_, "a"};
  AgentGateway gateway_;
  std::unique_ptr<Controller> controller_;
  MonoTime next_beat_{};
};

}  // namespace hai::test
