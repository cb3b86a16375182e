#include "tests/support/standby_server.h"

#include <fmt/core.h>

#include <future>

#include "common/check.h"

namespace hai {
namespace {

// Somebody else always has the lease.
class StoreOfAnother final : public Store {
 public:
  StoreOfAnother(Loop& loop, ServerAddresses leader) : loop_(loop), leader_(std::move(leader)) {}
  void acquire(Duration, Epoch, std::function<void(Result<Term>)> done) override {
    loop_.post([done = std::move(done)] {
      done(failed_precondition("another server leads, its lease ends in 900 ms"));
    });
  }
  ServerAddresses leader() const override { return leader_; }
  void renew(Epoch, Duration, std::function<void(Result<Term>)>) override { CHECK(false); }
  void release(Epoch, std::function<void()>) override { CHECK(false); }
  void load(std::function<void(Result<StoredState>)>) override { CHECK(false); }
  void append(AppendBatch, std::function<void(Status)>) override { CHECK(false); }

 private:
  Loop& loop_;
  const ServerAddresses leader_;
};

}  // namespace

StandbyServer::StandbyServer(const ServerAddresses& leader, const TlsFiles& tls,
                             const std::string& agent_token)
    : store_(std::make_unique<StoreOfAnother>(loop_, leader)) {
  const ServerConfig config{.cluster = "test",
                            .grpc_address = "127.0.0.1:0",
                            .http_address = "127.0.0.1:0",
                            .web_root = "none",
                            .admin_user = "root",
                            .tls = tls};
  serving_ = std::make_unique<Serving>(loop_, *store_, nullptr, nullptr, config,
                                       ServingSecrets{.agent_token = agent_token});
  const Status listening = serving_->listen();
  CHECK(listening.is_ok());
  serving_->start();
  thread_ = std::thread([this] { loop_.run(); });
  // Until it has heard who leads.
  std::promise<void> heard;
  std::function<void()> look = [&] {
    if (serving_->controller().standing().reason != "starting") return heard.set_value();
    loop_.call_after(1ms, look);
  };
  loop_.post(look);
  heard.get_future().wait();
}

StandbyServer::~StandbyServer() {
  loop_.post([this] { serving_->stop([this] { loop_.stop(); }); });
  thread_.join();
}

std::string StandbyServer::grpc_address() const {
  return fmt::format("127.0.0.1:{}", serving_->grpc_port());
}

}  // namespace hai
