// Agents and the server over TLS: a stream speaks for the node of its certificate and no other.

#include <gtest/gtest.h>

#include "agent/rpc/server_link.h"
#include "common/tls/tls_client.h"
#include "server/rpc/agent_gateway.h"
#include "server/rpc/agent_service.h"
#include "server/rpc/grpc_listener.h"
#include "server/rpc/grpc_server.h"
#include "tests/support/certificates.h"
#include "tests/unit/rpc/run_until.h"

namespace hai {
namespace {

class NoLogs final : public LogSource {
 public:
  LogChunk read(const LogRequest&) override { return {}; }
};

class Tls : public testing::Test {
 protected:
  explicit Tls(const std::string& listen = "0.0.0.0:0")
      : service_(loop_, gateway_, /*wants_certificates=*/true) {
    gateway_.set_events({.believe =
                             [this](const std::string& node, UnixTime begins) {
                               const auto found = revoked_.find(node);
                               if (found == revoked_.end() || begins > found->second) return ok();
                               return permission_denied("the identity of {} was revoked", node);
                             },
                         .admit = [](const AgentHello&) { return ok(); },
                         .connected =
                             [this](ConnectionId, const AgentHello& hello) {
                               connected_.push_back(hello.node);
                               address_ = hello.identity.address;
                             },
                         .report = [](ConnectionId, const AgentReport&) {},
                         .disconnected = [this](ConnectionId) { ++ended_; },
                         .log_chunk = [](ConnectionId, int64_t, const LogChunk&) {}});
    Result<std::unique_ptr<GrpcServer>> started =
        GrpcServer::start(listen, {&service_}, {}, ca_.server("s", {"127.0.0.1"}));
    EXPECT_TRUE(started.is_ok()) << started.status().message();
    server_ = std::move(started).value();
  }
  ~Tls() override {
    link_.reset();
    bool stopped = false;
    server_->stop(loop_, [&] { stopped = true; });
    EXPECT_TRUE(run_until(loop_, [&] { return stopped; }));
  }

  std::string address() const { return fmt::format("127.0.0.1:{}", server_->port()); }
  void start(const std::string& node, const TlsFiles& tls) {
    link_ = std::make_unique<GrpcServerLink>(
        loop_, logs_,
        ServerLinkOptions{.servers = {address()},
                          .node = node,
                          .tls = [tls] { return read_tls_files(tls); },
                          .backoff_min = 10ms,
                          .backoff_max_in_hurry = 20ms});
    link_->start({.connected = [this] { ++accepted_; },
                  .order = [](const AgentOrder&) {},
                  .disconnected = [] {}});
  }
  // What an agent of this node and certificate is told; "" = it is taken.
  std::string verdict_on(const std::string& node, const TlsFiles& tls) {
    connected_.clear();
    testing::internal::CaptureStderr();
    start(node, tls);
    std::string said;
    const bool is_over = run_until(loop_, [&] {
      said += testing::internal::GetCapturedStderr();
      testing::internal::CaptureStderr();
      return !connected_.empty() || said.find("refused_by_server") != std::string::npos;
    });
    said += testing::internal::GetCapturedStderr();
    EXPECT_TRUE(is_over) << said;
    link_.reset();
    return connected_.empty() ? said : "";
  }

  AsioLoop loop_;
  TestAuthority ca_;
  AgentGateway gateway_;
  AgentService service_;
  NoLogs logs_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<GrpcServerLink> link_;
  std::vector<std::string> connected_;
  std::string address_;  // of the last of them
  std::map<std::string, UnixTime> revoked_;
  int accepted_ = 0;
  int ended_ = 0;
};

bool has_ipv6() { return GrpcListener::open("[::]:0", {}, nullptr).is_ok(); }

class TlsOnIpv6 : public Tls {
 protected:
  TlsOnIpv6() : Tls(has_ipv6() ? "[::]:0" : "0.0.0.0:0") {}
};

TEST_F(TlsOnIpv6, AnAgentThatComesByIpv4HasItsIpv4Address) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
  EXPECT_EQ(verdict_on("n1", ca_.node("n1", "n1")), "");
  EXPECT_EQ(address_, "127.0.0.1");
}

TEST_F(Tls, AnAgentIsTheNodeOfItsCertificate) {
  EXPECT_EQ(verdict_on("n1", ca_.node("n1", "n1")), "");
  const std::string said = verdict_on("n1", ca_.node("n2", "n2"));
  EXPECT_NE(said.find("an agent says that it is n1, but its certificate is that of n2"),
            std::string::npos)
      << said;
}

// Revoked: no certificate of n1 that begins no later than `revoked_`.
TEST_F(Tls, AStreamEndsAtOnceWhenItsCertificateIsRevoked) {
  start("n1", ca_.node("n1", "n1"));
  ASSERT_TRUE(run_until(loop_, [this] { return accepted_ == 1; }));
  loop_.post([this] { gateway_.look_again(); });
  revoked_["n2"] = loop_.wall_now();
  bool has_looked = false;
  loop_.post([&] { has_looked = true; });
  ASSERT_TRUE(run_until(loop_, [&] { return has_looked; }));
  EXPECT_EQ(ended_, 0) << "another one's";
  const MonoTime began = loop_.now();
  revoked_["n1"] = loop_.wall_now();
  loop_.post([this] { gateway_.look_again(); });
  EXPECT_TRUE(run_until(loop_, [this] { return ended_ == 1; }));
  EXPECT_LT(loop_.now() - began, Duration(1s));
  const std::string said = verdict_on("n1", ca_.node("n1", "n1"));
  EXPECT_NE(said.find("n1 was revoked"), std::string::npos) << said;
}

TEST_F(Tls, AServersCertificateAndNoneAreNoNode) {
  TlsFiles none = ca_.node("n1", "n1");
  none.certificate = none.key = "";
  const std::string said = verdict_on("n1", none);
  EXPECT_NE(said.find("an agent says that it is n1 and shows no certificate of a node"),
            std::string::npos)
      << said;
  // gRPC cuts off who shows a certificate that is for servers.
  const std::string other = verdict_on("n1", ca_.server("other", {"n1"}));
  EXPECT_NE(other.find("does not take the certificate of this side"), std::string::npos) << other;
}

TEST_F(Tls, ACertificateOfAnotherCaIsNone) {
  TestAuthority other;
  TlsFiles foreign = other.node("n1", "n1");
  foreign.ca = ca_.ca();
  const std::string said = verdict_on("n1", foreign);
  EXPECT_NE(said.find("does not take the certificate of this side"), std::string::npos) << said;
  TlsFiles unbelieving = ca_.node("n1", "n1");
  unbelieving.ca = other.ca();
  const std::string why = verdict_on("n1", unbelieving);
  EXPECT_NE(why.find("is of a CA that is not believed here"), std::string::npos) << why;
}

TEST_F(Tls, PlainTextIsToldToSpeakTls) {
  const std::string said = verdict_on("n1", {});
  EXPECT_NE(said.find("speaks TLS: give the CA of that cluster"), std::string::npos) << said;
}

TEST_F(Tls, AnAgentTakesANewCertificateWithItsNextTry) {
  const TlsFiles files = ca_.node("n1", "n2");
  EXPECT_NE(verdict_on("n1", files), "");
  start("n1", files);
  ca_.node("n1", "n1");
  EXPECT_TRUE(run_until(loop_, [this] { return accepted_ == 1; }));
}

TEST_F(Tls, NewFilesAreShownAndOldStreamsGoOn) {
  start("n1", ca_.node("n1", "n1"));
  ASSERT_TRUE(run_until(loop_, [this] { return accepted_ == 1; }));
  ca_.server("s", {"127.0.0.2"});
  const std::string renamed = fmt::format("127.0.0.2:{}", server_->port());
  EXPECT_TRUE(run_until(loop_, [&] {
    return TlsClient::connect({.address = renamed, .texts = {.ca = ca_.ca_text()}, .is_grpc = true})
        .is_ok();
  }));
  EXPECT_EQ(ended_, 0);
}

}  // namespace
}  // namespace hai
