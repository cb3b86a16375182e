#include "agent/shell/shell_link.h"

#include <grpcpp/grpcpp.h>

#include <future>
#include <utility>

#include "common/shell_messages.h"
#include "hai/v1/shell.grpc.pb.h"
#include "proto/convert/channel_credentials.h"

namespace hai {
namespace {

constexpr int kKeepaliveMs = 10'000;  // hundreds of them on a busy machine answer late

std::shared_ptr<grpc::Channel> make_channel(const ShellLinkOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // A server that is stopped, or whose machine has vanished, closes nothing.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return grpc::CreateCustomChannel(options.server, channel_credentials(options.tls), arguments);
}

// As GrpcServerStream (agent/rpc/server_stream.cpp): gRPC's threads only post.
class GrpcShellLink final : public ShellLink,
                            public grpc::ClientBidiReactor<v1::ShellMessage, v1::ShellMessage>,
                            public std::enable_shared_from_this<GrpcShellLink> {
 public:
  GrpcShellLink(Loop& loop, const ShellLinkOptions& options, ShellLinkEvents events)
      : loop_(loop),
        events_(std::move(events)),
        channel_(make_channel(options)),
        stub_(v1::NodeShells::NewStub(channel_)) {
    context_.AddMetadata(kShellTicketKey, options.ticket);
    if (!options.agent_token.empty()) {
      context_.AddMetadata("authorization", "Bearer " + options.agent_token);
    }
  }

  void begin() {
    self_ = shared_from_this();  // gRPC's share, given back in OnDone
    stub_->async()->Join(&context_, this);
    AddHold();  // Reads and writes are started from the loop, outside of gRPC's callbacks.
    StartCall();
    read_next();
  }

  void read_next() override {
    if (released_ || std::exchange(read_in_flight_, true)) return;
    reading_.Clear();
    StartRead(&reading_);
  }

  void send(const v1::ShellMessage& message, std::function<void()> written) override {
    if (released_) return;
    writing_ = message;
    written_ = std::move(written);
    StartWrite(&writing_);
  }

  void close() override {
    context_.TryCancel();
    release();
  }

  void close_and_wait() override {
    events_ = {};
    silent_ = true;
    close();
    done_->get_future().wait();
  }

  // ---- gRPC's threads

  void OnReadDone(bool ok) override {
    post([this, ok] {
      read_in_flight_ = false;
      if (!ok) return release();
      if (!silent_ && !released_) events_.message(reading_);
    });
  }

  void OnWriteDone(bool ok) override {
    // What waits for a write holds this link: without it gone both would live for ever.
    if (!ok) {
      return post([this] {
        written_ = nullptr;
        close();
      });
    }
    post([this] {
      const std::function<void()> written = std::exchange(written_, nullptr);
      if (!silent_ && !released_ && written) written();
    });
  }

  void OnDone(const grpc::Status&) override {
    // The last share must go on the loop's thread: with it goes the channel, and gRPC then joins
    // the very threads that call us here. After the post, `this` may be gone.
    const std::shared_ptr<std::promise<void>> done = done_;
    loop_.post([self = std::move(self_)] {
      self->written_ = nullptr;
      if (self->silent_) return;
      const ShellLinkEvents events = std::exchange(self->events_, {});
      if (events.done) events.done();
    });
    done->set_value();
  }

 private:
  void post(std::function<void()> callback) {
    loop_.post([self = shared_from_this(), callback = std::move(callback)] { callback(); });
  }

  // After this nothing is started any more, so gRPC may finish with OnDone.
  void release() {
    if (std::exchange(released_, true)) return;
    RemoveHold();
  }

  Loop& loop_;
  ShellLinkEvents events_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::NodeShells::Stub> stub_;
  grpc::ClientContext context_;
  std::shared_ptr<GrpcShellLink> self_;
  v1::ShellMessage writing_;
  v1::ShellMessage reading_;
  std::function<void()> written_;
  bool read_in_flight_ = false;
  bool released_ = false;
  bool silent_ = false;
  std::shared_ptr<std::promise<void>> done_ = std::make_shared<std::promise<void>>();
};

}  // namespace

std::shared_ptr<ShellLink> ShellLink::open(Loop& loop, const ShellLinkOptions& options,
                                           ShellLinkEvents events) {
  auto link = std::make_shared<GrpcShellLink>(loop, options, std::move(events));
  link->begin();
  return link;
}

}  // namespace hai
