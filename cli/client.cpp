#include "cli/client.h"

#include <grpcpp/grpcpp.h>

#include "cli/client_wire.h"

namespace hai::cli {

struct Client::Wire : ClientWire {
  using ClientWire::ClientWire;
};

Client::Client(std::vector<std::string> servers, std::string token, TlsTexts tls)
    : wire_(std::make_unique<Wire>(std::move(servers), std::move(token), std::move(tls))) {}

Client::~Client() = default;

std::unique_ptr<Client> Client::clone() const {
  auto other = std::make_unique<Client>(wire_->servers(), wire_->token(), wire_->tls());
  other->set_notice(wire_->notice());
  return other;
}

void Client::set_notice(Notice notice) { wire_->set_notice(std::move(notice)); }

void Client::hurry(Duration limit) { wire_->hurry(limit); }

std::optional<Duration> Client::clock_ahead() const { return wire_->clock_ahead(); }

void Client::stop() { wire_->stop(); }

#define HAI_CALL(method, Rpc, Request, Reply)                                    \
  Result<v1::Reply> Client::method(const v1::Request& request) {                 \
    return wire_->call<v1::Request, v1::Reply>(&ClientWire::Stub::Rpc, request); \
  }
HAI_CLIENT_CALLS(HAI_CALL)
#undef HAI_CALL

Status Client::watch_job(const v1::WatchJobRequest& request, const OnMessage<v1::Job>& on_message,
                         std::optional<Duration> limit) {
  return wire_->stream<v1::WatchJobRequest, v1::Job>(&ClientWire::Stub::WatchJob, request,
                                                     on_message, limit);
}

Status Client::watch_events(const v1::WatchEventsRequest& request,
                            const OnMessage<v1::Event>& on_message, std::optional<Duration> limit) {
  return wire_->stream<v1::WatchEventsRequest, v1::Event>(&ClientWire::Stub::WatchEvents, request,
                                                          on_message, limit);
}

Status Client::read_log(const v1::ReadLogRequest& request,
                        const OnMessage<v1::ReadLogReply>& on_message) {
  return wire_->stream<v1::ReadLogRequest, v1::ReadLogReply>(&ClientWire::Stub::ReadLog, request,
                                                             on_message, std::nullopt);
}

Result<std::unique_ptr<ShellCall>> Client::open_shell(const v1::ShellOpen& open) {
  return wire_->open_shell(open);
}

}  // namespace hai::cli
