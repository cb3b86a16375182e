#include "server/rpc/grpc_server.h"

#include <grpcpp/grpcpp.h>

#include <cstdlib>

#include "common/loop.h"
#include "proto/convert/agent_convert.h"
#include "proto/convert/grpc_locks.h"
#include "server/rpc/tls_credentials.h"

namespace hai {

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const std::string& address,
                                                      const std::vector<grpc::Service*>& services,
                                                      const GrpcDoor& door, const TlsFiles& tls) {
  leave_grpc_locks_unchecked();
  if (!tls.certificate.empty()) refuse_tls_before_13();
  Result<std::unique_ptr<GrpcListener>> listener =
      GrpcListener::open(address, door.limits, door.known);
  if (!listener.is_ok()) return listener.status();
  grpc::ServerBuilder builder;
  const auto acceptor = std::shared_ptr(builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      server_credentials(tls, door.guard)));
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  // Agents ping a silent connection every few seconds; gRPC's default would call that abuse.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // The server pings too, to see agents whose machine has vanished.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Else each connection may send 4 MB before anything of it is judged, and gRPC keeps some 0.3 MB
  // for one that did, though its call was refused. Messages that are read get the window that they
  // need.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  // A client with more calls than that has them wait on its side, and keeps others waiting less
  // (tests/bench/fairness.py). An agent has 256 shells at most.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 300);
  // A connection on which gRPC has not begun ends after 10 s, one without calls after a minute.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 60'000);
  for (grpc::Service* service : services) builder.RegisterService(service);
  if (door.others != nullptr) builder.RegisterCallbackGenericService(door.others);

  std::unique_ptr<GrpcServer> result(new GrpcServer());
  result->server_ = builder.BuildAndStart();
  if (!result->server_) return unavailable("gRPC does not start on {}", address);
  result->listener_ = std::move(listener).value();
  result->port_ = result->listener_->port();
  result->listener_->accept([acceptor](int listener_fd, int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.listener_fd = listener_fd;
    parameters.fd = fd;
    acceptor->HandleNewConnection(&parameters);
  });
  return result;
}

// gRPC 1.51 takes TLS 1.2, too, and can't be told otherwise. But it can be told which ciphers to
// take with it: those here need a key that both sides have had before, and nobody has one. TLS 1.3
// has its own ciphers, which this leaves alone.
void GrpcServer::refuse_tls_before_13() {
  ::setenv("GRPC_SSL_CIPHER_SUITES", "PSK-AES256-GCM-SHA384", 1);
}

GrpcServer::~GrpcServer() {
  listener_.reset();
  if (stopper_.joinable()) stopper_.join();
}

void GrpcServer::stop(Loop& loop, std::function<void()> stopped) {
  // Shutdown blocks until every call has ended, and the loop is what ends them.
  stopper_ = std::thread([this, &loop, stopped = std::move(stopped)] {
    listener_->stop();
    server_->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
    server_->Wait();
    loop.post(stopped);
  });
}

}  // namespace hai
