#pragma once
// The gRPC server: binds one address and serves the given services until it is stopped. The
// services' reactors post to a loop and are finished from it, so the loop must run until `stopped`
// has been called.

#include <grpcpp/generic/async_generic_service.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/status.h"
#include "common/time.h"
#include "common/tls/tls_files.h"
#include "server/rpc/call_guard.h"
#include "server/rpc/grpc_listener.h"

namespace hai {

class Loop;

// Who is let in, and who stays when there are too many.
struct GrpcDoor {
  ListenerLimits limits = {};
  std::shared_ptr<KnownPeers> known = nullptr;
  CallGuard guard = nullptr;                       // null = every call is read
  grpc::CallbackGenericService* others = nullptr;  // calls that no service has; null = refused
};

class GrpcServer {
 public:
  static constexpr Duration kShutdownGrace = 1s;

  // `services` outlive the server. `address` is host:port, port 0 for any. `tls` has been checked;
  // without a certificate there is none.
  static Result<std::unique_ptr<GrpcServer>> start(const std::string& address,
                                                   const std::vector<grpc::Service*>& services,
                                                   const GrpcDoor& door = {},
                                                   const TlsFiles& tls = {});
  ~GrpcServer();  // after `stopped`, or of one never used

  // For the whole process: TLS 1.3 or none. Called by start(), too late if a connection was made
  // before it; best before there are threads, since it sets a variable of the environment.
  static void refuse_tls_before_13();

  int port() const { return port_; }
  // GrpcListener::trouble.
  std::string trouble() const { return listener_->trouble(); }
  // Ends all calls (running ones get kShutdownGrace); then `stopped` is called on `loop`.
  void stop(Loop& loop, std::function<void()> stopped);

 private:
  GrpcServer() = default;
  std::unique_ptr<GrpcListener> listener_;
  std::unique_ptr<grpc::Server> server_;
  std::thread stopper_;
  int port_ = 0;
};

}  // namespace hai
