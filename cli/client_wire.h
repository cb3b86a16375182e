#pragma once
// How the client speaks to servers: channels, metadata, which server comes next. Only for
// client.cpp: it brings gRPC's headers.

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "cli/client.h"
#include "cli/format.h"
#include "cli/patience.h"
#include "cli/server_list.h"
#include "cli/stopper.h"
#include "hai/v1/api.grpc.pb.h"
#include "hai/v1/shell.grpc.pb.h"
#include "proto/convert/server_time.h"

namespace hai::cli {

class ClientWire {
 public:
  using Stub = v1::Api::StubInterface;
  template <typename Request, typename Reply>
  using Method = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Reply*);
  template <typename Request, typename Message>
  using StreamMethod = std::unique_ptr<grpc::ClientReaderInterface<Message>> (Stub::*)(
      grpc::ClientContext*, const Request&);

  ClientWire(std::vector<std::string> servers, std::string token, TlsTexts tls)
      : list_(std::move(servers)), token_(std::move(token)), tls_(std::move(tls)) {}

  const std::vector<std::string>& servers() const { return list_.all(); }
  const std::string& token() const { return token_; }
  const TlsTexts& tls() const { return tls_; }
  const Client::Notice& notice() const { return notice_; }
  void set_notice(Client::Notice notice) { notice_ = std::move(notice); }
  void hurry(Duration limit) {
    call_timeout_ = limit;
    is_hurried_ = true;
  }
  void stop() { stopper_.stop(); }
  std::optional<Duration> clock_ahead() const { return clock_ahead_; }

  template <typename Request, typename Reply>
  Result<Reply> call(Method<Request, Reply> method, const Request& request) {
    ServerList::Search search(list_, mono_now());
    std::optional<Reply> stale;  // believed if no other server knows better
    size_t others_asked = 0;
    std::string stale_since;
    for (;;) {
      grpc::ClientContext context;
      prepare(context, call_timeout_);
      const Stopper::Call under_way(stopper_, context);
      Reply reply;
      const UnixTime asked = wall_now();
      const grpc::Status status = (stub().*method)(&context, request, &reply);
      clock_ahead_ = hai::clock_ahead(asked, wall_now(), context);
      if (stopper_.is_stopped()) return Status(Code::cancelled, "stopped");
      if (status.ok() && stale_since_of(context).empty()) return reply;
      if (!status.ok() && status.error_code() != grpc::StatusCode::UNAVAILABLE) {
        return to_status(status, context);
      }
      if (status.ok() && !stale) {
        stale = std::move(reply);
        stale_since = stale_since_of(context);
      }
      if (stale && ++others_asked >= list_.all().size()) {
        tell_stale(stale_since);
        return *std::move(stale);
      }
      if (is_hurried_ && !status.ok()) return to_status(status, context);
      if (!search.go_on(status.ok() ? FailedTry{} : failed_try(status, context), mono_now())) {
        return to_status(status, context);
      }
      if (search.should_tell(mono_now())) tell("waiting for a server that leads");
      std::this_thread::sleep_for(search.pause());
    }
  }

  template <typename Request, typename Message>
  Status stream(StreamMethod<Request, Message> method, const Request& request,
                const OnMessage<Message>& on_message, std::optional<Duration> limit) {
    grpc::ClientContext context;
    prepare(context, limit);
    const Stopper::Call under_way(stopper_, context);
    auto reader = (stub().*method)(&context, request);
    Message message;
    bool wanted = true;
    bool first = true;
    while (wanted && reader->Read(&message)) {
      if (std::exchange(first, false)) {
        tell_stale(stale_since_of(context));
        tell_log_source(context);
      }
      wanted = on_message(message);
    }
    if (!wanted) {
      context.TryCancel();
      while (reader->Read(&message)) continue;
    }
    const grpc::Status status = reader->Finish();
    if (!wanted) return ok();
    const Status result = to_status(status, context);
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      list_.move_on(failed_try(status, context));
    }
    return result;
  }

  Result<std::unique_ptr<ShellCall>> open_shell(const v1::ShellOpen& open);

 private:
  Stub& stub();
  void prepare(grpc::ClientContext& context, std::optional<Duration> limit) const;
  Status to_status(const grpc::Status& status, const grpc::ClientContext& context) const;
  std::string cause_of(const std::string& text) const;
  static FailedTry failed_try(const grpc::Status& status, const grpc::ClientContext& context);
  static std::string stale_since_of(const grpc::ClientContext& context);
  void tell(const std::string& line) const;
  void tell_stale(const std::string& since);  // "" = it is not
  void tell_log_source(const grpc::ClientContext& context);

  ServerList list_;
  const std::string token_;
  const TlsTexts tls_;
  Client::Notice notice_;
  Stopper stopper_;
  struct Line {
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<Stub> stub;
  };
  std::map<std::string, Line> lines_;  // by the server's address
  bool told_stale_ = false;
  std::string told_log_source_;
  Duration call_timeout_ = 30s;
  bool is_hurried_ = false;
  std::optional<Duration> clock_ahead_;
};

}  // namespace hai::cli
