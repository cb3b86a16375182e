#include "cli/client_wire.h"

#include <chrono>

#include "cli/format.h"
#include "common/tls/tls_client.h"
#include "proto/convert/channel_credentials.h"

namespace hai::cli {
namespace {

constexpr int kReplyBytesMax = 64 << 20;

std::shared_ptr<grpc::Channel> open_channel(const std::string& server, const TlsTexts& tls) {
  grpc::ChannelArguments arguments;
  arguments.SetUserAgentPrefix("hai-cli");
  arguments.SetMaxReceiveMessageSize(kReplyBytesMax);
  // gRPC would wait 1 s and more between attempts to connect: too long for a person.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // In gRPC's words the shortest pause; in fact how long one attempt to connect may take. On a busy
  // machine 100 ms are not enough, and a call fails at once when its attempt does.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // A server that is stopped, or whose machine has vanished, closes nothing.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 5'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 4'000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a new channel is a new connection
  return grpc::CreateCustomChannel(server, channel_credentials(tls), arguments);
}

// UNAVAILABLE is said by gRPC itself, about the connection, and by the server, about itself or its
// store.
bool is_no_connection(const grpc::ClientContext& context) {
  return context.debug_error_string().find("received from peer") == std::string::npos;
}

// gRPC wraps the cause in several layers; the last one is what helps.
std::string short_cause(const std::string& text) {
  if (text.find("Connection refused") != std::string::npos) return "connection refused";
  const size_t last = text.rfind(": ");
  return last == std::string::npos ? text : text.substr(last + 2);
}

std::string value_of(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata,
                     const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
}

class GrpcShellCall final : public ShellCall {
 public:
  explicit GrpcShellCall(std::shared_ptr<grpc::Channel> channel)
      : channel_(std::move(channel)), stub_(v1::Shells::NewStub(channel_)) {}

  grpc::ClientContext& context() { return context_; }
  // Not ok: it is finished.
  grpc::Status begin(const v1::ShellOpen& open) {
    stream_ = stub_->Open(&context_);
    v1::ShellMessage message;
    *message.mutable_open() = open;
    stream_->Write(message);  // If it fails, so does the read.
    if (!stream_->Read(&message)) return stream_->Finish();
    if (!message.has_started()) {
      context_.TryCancel();
      while (stream_->Read(&message)) continue;
      stream_->Finish();
      return {grpc::StatusCode::INTERNAL, "the server did not say that the program runs"};
    }
    started_ = message.started();
    return grpc::Status::OK;
  }

  const v1::ShellStarted& started() const override { return started_; }
  bool read(v1::ShellMessage& message) override { return stream_->Read(&message); }
  bool write(const v1::ShellMessage& message) override { return stream_->Write(message); }
  void cancel() override { context_.TryCancel(); }
  Status finish() override {
    v1::ShellMessage unread;
    while (stream_->Read(&unread)) continue;
    const grpc::Status status = stream_->Finish();
    if (status.ok()) return ok();
    // The server's own words say what became of the shell, gRPC's what became of a socket.
    const bool is_of_server = status.error_message().find("shell") != std::string::npos;
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE && !is_of_server) {
      return unavailable("the connection to the server is lost, and the shell with it");
    }
    return {static_cast<Code>(status.error_code()), status.error_message()};
  }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::Shells::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ShellMessage, v1::ShellMessage>> stream_;
  v1::ShellStarted started_;
};

}  // namespace

Result<std::unique_ptr<ShellCall>> ClientWire::open_shell(const v1::ShellOpen& open) {
  ServerList::Search search(list_, mono_now());
  for (;;) {
    stub();
    auto call = std::make_unique<GrpcShellCall>(lines_[list_.current()].channel);
    grpc::ClientContext& context = call->context();
    prepare(context, std::nullopt);
    const Stopper::Call under_way(stopper_, context);
    const grpc::Status status = call->begin(open);
    if (stopper_.is_stopped()) return Status(Code::cancelled, "stopped");
    if (status.ok()) return std::unique_ptr<ShellCall>(std::move(call));
    const FailedTry failed = failed_try(status, context);
    // Who was sent on, or did not come through at all, may ask again: nothing runs for him yet.
    const bool may_ask_again =
        !failed.fate_is_unknown &&
        (!failed.leader.empty() || failed.will_pass || is_no_connection(context));
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE || !may_ask_again ||
        !search.go_on(failed, mono_now())) {
      return to_status(status, context);
    }
    if (search.should_tell(mono_now())) tell("waiting for a server that leads");
    std::this_thread::sleep_for(search.pause());
  }
}

// gRPC does nothing for a channel while no call waits for it. A channel that was lost begins to
// connect between two calls, so that a TLS handshake, which takes several rounds, never ends: what
// is not connected by the next call is given up for a new one, which that call waits for.
ClientWire::Stub& ClientWire::stub() {
  Line& line = lines_[list_.current()];
  if (line.channel) {
    const grpc_connectivity_state state = line.channel->GetState(false);
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_CONNECTING) line = {};
  }
  if (!line.channel) {
    line.channel = open_channel(list_.current(), tls_);
    line.stub = v1::Api::NewStub(line.channel);
  }
  return *line.stub;
}

void ClientWire::prepare(grpc::ClientContext& context, std::optional<Duration> limit) const {
  if (!token_.empty()) context.AddMetadata("authorization", "Bearer " + token_);
  if (limit) context.set_deadline(std::chrono::system_clock::now() + *limit);
}

Status ClientWire::to_status(const grpc::Status& status, const grpc::ClientContext& context) const {
  if (status.ok()) return ok();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE && is_no_connection(context)) {
    return unavailable("cannot reach hai-server at {}: {}", list_.current(),
                       cause_of(status.error_message()));
  }
  return Status(static_cast<Code>(status.error_code()), status.error_message());
}

// gRPC does not say why TLS fails, or that it is spoken where plain text was tried.
std::string ClientWire::cause_of(const std::string& text) const {
  const std::string cause = short_cause(text);
  if (is_hurried_ || cause == "connection refused") return cause;
  const Status why = why_no_grpc(list_.current(), tls_);
  return why.is_ok() ? cause : why.message();
}

FailedTry ClientWire::failed_try(const grpc::Status& status, const grpc::ClientContext& context) {
  const std::string& text = status.error_message();
  // gRPC says so when the request has never left.
  const bool never_sent = text.find("failed to connect") != std::string::npos;
  const bool broke_off = is_no_connection(context) && !never_sent;
  return {.leader = value_of(context.GetServerTrailingMetadata(), "hai-leader"),
          .will_pass = !value_of(context.GetServerTrailingMetadata(), "hai-mode").empty(),
          .fate_is_unknown =
              broke_off || text.find("may or may not have been done") != std::string::npos};
}

std::string ClientWire::stale_since_of(const grpc::ClientContext& context) {
  return value_of(context.GetServerInitialMetadata(), "hai-stale-since");
}

void ClientWire::tell(const std::string& line) const {
  if (notice_) notice_(line);
}

void ClientWire::tell_stale(const std::string& since) {
  if (since.empty() || std::exchange(told_stale_, true)) return;
  const Result<UnixTime> time = parse_rfc3339(since);
  std::string when = since;
  if (time.is_ok()) {
    const std::string local = local_time(to_micros(time.value()));
    when = local.substr(local.find(' ') + 1);
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::system_clock::now().time_since_epoch() - time.value().time_since_epoch());
    when += fmt::format(" ({} ago)", format_duration(std::max<Duration>(age, 0s)));
  }
  tell("the database cannot be reached; this is as of " + when);
}

// That a log does not come from its node: once, however often it is asked for.
void ClientWire::tell_log_source(const grpc::ClientContext& context) {
  const auto& metadata = context.GetServerInitialMetadata();
  const std::string source = value_of(metadata, "hai-log-source");
  if (source.empty() || std::exchange(told_log_source_, source) == source) return;
  const Result<UnixTime> until = parse_rfc3339(value_of(metadata, "hai-log-until"));
  tell(until.is_ok() ? fmt::format("{}, up to {}", source, local_time(to_micros(until.value())))
                     : source);
}

}  // namespace hai::cli
