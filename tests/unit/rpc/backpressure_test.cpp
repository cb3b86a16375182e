// More calls than a server can work off: those beyond its bound are refused at once, with a hint,
// though its loop does nothing; those that were let in are answered.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>

#include "hai/v1/api.grpc.pb.h"
#include "proto/convert/spec_convert.h"
#include "server/api/admission.h"
#include "tests/support/live_server.h"
#include "tests/unit/http/http_client.h"

namespace hai {
namespace {

class Backpressure : public ::testing::Test {
 protected:
  static constexpr int kConnections = 40;  // each has at most 300 calls open

  struct Call {
    grpc::ClientContext context;
    v1::SubmitJobRequest request;
    v1::SubmitJobReply reply;
    grpc::Status status;
    int place = 0;  // among those that have ended, from 1
  };

  Backpressure() {
    for (int i = 0; i < kConnections; ++i) {
      grpc::ChannelArguments arguments;
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
      stubs_.push_back(v1::Api::NewStub(grpc::CreateCustomChannel(
          server_.grpc_address(), grpc::InsecureChannelCredentials(), arguments)));
    }
  }

  void start(int number, const std::string& token = LiveServer::kAdminToken) {
    Call& call = *calls_.emplace_back(std::make_unique<Call>());
    call.context.AddMetadata("authorization", "Bearer " + token);
    JobSpec spec{.name = fmt::format("flood-{}", number), .workspace = "/", .entrypoint = "x"};
    spec.group = "training";
    spec.priority = Priority::normal;
    *call.request.mutable_spec() = to_proto(spec);
    v1::Api::Stub& stub = *stubs_[static_cast<size_t>(number) % kConnections];
    stub.async()->SubmitJob(&call.context, &call.request, &call.reply,
                            [this, &call](const grpc::Status& status) {
                              call.status = status;
                              if (!status.ok()) ++refused_;
                              call.place = ++ended_;
                              if (call.place == static_cast<int>(target_)) all_ended_.set_value();
                            });
  }

  // The token of another person.
  std::string token_of(const std::string& name) {
    const auto prepare = [](grpc::ClientContext& context) {
      context.AddMetadata("authorization", std::string("Bearer ") + LiveServer::kAdminToken);
    };
    grpc::ClientContext first;
    prepare(first);
    v1::SetUserRequest user;
    user.set_name(name);
    user.set_role("user");
    v1::User made;
    EXPECT_TRUE(stubs_[0]->SetUser(&first, user, &made).ok());
    grpc::ClientContext second;
    prepare(second);
    v1::CreateTokenRequest request;
    request.set_user(name);
    v1::CreateTokenReply reply;
    EXPECT_TRUE(stubs_[0]->CreateToken(&second, request, &reply).ok());
    return reply.secret();
  }

  // Keeps the loop from doing anything while `meanwhile` runs.
  void while_it_stands_still(const std::function<void()>& meanwhile) {
    std::promise<void> blocked;
    std::promise<void> go_on;
    std::thread holder([&] {
      server_.on_loop([&] {
        blocked.set_value();
        go_on.get_future().wait();
      });
    });
    blocked.get_future().wait();
    meanwhile();
    go_on.set_value();
    holder.join();
  }

  LiveServer server_;
  std::vector<std::unique_ptr<v1::Api::Stub>> stubs_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::atomic<int> ended_ = 0;
  std::atomic<int> refused_ = 0;
  size_t target_ = 0;
  std::promise<void> all_ended_;
};

TEST_F(Backpressure, AFloodIsRefusedWithAHintAndWhatWasLetInIsAnswered) {
  constexpr int kBeyond = 500;
  constexpr int kShare = Admission::kSubmitsMax / 2;  // of one person
  target_ = kShare + kBeyond;
  while_it_stands_still([&] {
    for (int i = 0; i < static_cast<int>(target_); ++i) start(i);
    // The loop stands still, so that all answers that come are refusals.
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (refused_ < kBeyond && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    EXPECT_EQ(refused_, kBeyond);
    EXPECT_EQ(ended_, kBeyond);
    const std::string by_rest =
        http_exchange(server_.http_port(),
                      fmt::format("POST /api/v1/jobs HTTP/1.1\r\nHost: t\r\nConnection: close\r\n"
                                  "Authorization: Bearer {}\r\nContent-Length: 0\r\n\r\n",
                                  LiveServer::kAdminToken));
    EXPECT_NE(by_rest.find(" 429 "), std::string::npos) << by_rest;
    EXPECT_NE(by_rest.find("Retry-After: 1"), std::string::npos) << by_rest;
  });
  ASSERT_EQ(all_ended_.get_future().wait_for(60s), std::future_status::ready);
  int accepted = 0;
  for (const auto& call : calls_) {
    if (call->status.ok()) {
      ++accepted;
      continue;
    }
    EXPECT_EQ(call->status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(call->context.GetServerTrailingMetadata().count("retry-after-ms"), 1U);
  }
  EXPECT_EQ(accepted, kShare);
  const std::string metrics = http_get(server_.http_port(), "/metrics");
  for (const std::string line : {"hai_rpc_total{method=\"SubmitJob\",code=\"ok\"} 10000\n",
                                 "hai_calls_refused_total 501\n", "hai_calls_under_way 0\n"}) {
    EXPECT_NE(metrics.find(line), std::string::npos) << line;
  }
  server_.on_loop([&] {
    EXPECT_EQ(server_.controller().state().last_job().value, accepted) << "nothing lost or doubled";
  });
}

// The flood was there first, and half of it at most is answered before the other call.
TEST_F(Backpressure, WhoAsksForLittleDoesNotWaitForAFlood) {
  constexpr int kFlood = 5'000;
  const std::string ann = token_of("ann");
  target_ = kFlood + 1;
  while_it_stands_still([&] {
    for (int i = 0; i < kFlood; ++i) start(i);
    while (server_.calls_under_way() < kFlood) std::this_thread::yield();
    start(kFlood, ann);
    while (server_.calls_under_way() < kFlood + 1) std::this_thread::yield();
  });
  ASSERT_EQ(all_ended_.get_future().wait_for(60s), std::future_status::ready);
  EXPECT_TRUE(calls_.back()->status.ok()) << calls_.back()->status.error_message();
  EXPECT_LT(calls_.back()->place, kFlood / 2);
}

}  // namespace
}  // namespace hai
