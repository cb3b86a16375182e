#include "server/rpc/grpc_server.h"

#include <grpcpp/grpcpp.h>

#include "common/loop.h"
#include "proto/convert/agent_convert.h"
#include "proto/convert/grpc_locks.h"

namespace hai {

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const std::string& address,
                                                      const std::vector<grpc::Service*>& services) {
  leave_grpc_locks_unchecked();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
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
  // Two servers on one port would each get half of the agents.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  for (grpc::Service* service : services) builder.RegisterService(service);

  std::unique_ptr<GrpcServer> result(new GrpcServer());
  result->server_ = builder.BuildAndStart();
  if (!result->server_ || port == 0) {
    return unavailable("cannot listen on {}; is the address right and the port free?", address);
  }
  result->port_ = port;
  return result;
}

GrpcServer::~GrpcServer() {
  if (stopper_.joinable()) stopper_.join();
}

void GrpcServer::stop(Loop& loop, std::function<void()> stopped) {
  // Shutdown blocks until every call has ended, and the loop is what ends them.
  stopper_ = std::thread([this, &loop, stopped = std::move(stopped)] {
    server_->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
    server_->Wait();
    loop.post(stopped);
  });
}

}  // namespace hai
