#pragma once
// A whole server on loopback that does not lead, for tests of what it says instead. Its loop runs
// on a thread of its own.

#include <memory>
#include <string>
#include <thread>

#include "common/asio_loop.h"
#include "server/serving.h"

namespace hai {

class StandbyServer {
 public:
  // Where the leader is, as the store says; empty = nobody leads.
  explicit StandbyServer(const ServerAddresses& leader, const TlsFiles& tls = {},
                         const std::string& agent_token = "hai_agent_token_of_tests");
  ~StandbyServer();
  StandbyServer(const StandbyServer&) = delete;
  StandbyServer& operator=(const StandbyServer&) = delete;

  std::string grpc_address() const;
  int http_port() const { return serving_->http_port(); }

 private:
  AsioLoop loop_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Serving> serving_;
  std::thread thread_;
};

}  // namespace hai
