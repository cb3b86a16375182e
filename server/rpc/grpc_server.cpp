#include "server/rpc/grpc_server.h"

#include <grpcpp/grpcpp.h>

#include "common/loop.h"
#include "proto/convert/agent_convert.h"
#include "proto/convert/grpc_locks.h"

namespace hai {

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const std::string& address,
                                                      const std::vector<grpc::Service*>& services,
                                                      const ListenerLimits& limits) {
  leave_grpc_locks_unchecked();
  Result<std::unique_ptr<GrpcListener>> listener = GrpcListener::open(address, limits);
  if (!listener.is_ok()) return listener.status();
  grpc::ServerBuilder builder;
  const auto acceptor = std::shared_ptr(builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials()));
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  // Agents ping a silent connection every few seconds; gRPC's default would call that abuse.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // The server pings too, to see agents whose machine has vanished.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // A client with more calls than that has them wait on its side.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 1'000);
  // Of whoever has said something, but nothing that is gRPC; and of whoever asks nothing any more.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 60'000);
  for (grpc::Service* service : services) builder.RegisterService(service);

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
