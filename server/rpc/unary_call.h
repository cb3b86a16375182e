#pragma once
// How every unary call runs: post to the loop, ask there, finish from there. gRPC keeps request,
// reply and context alive until Finish.

#include <grpcpp/support/server_callback.h>

#include "common/loop.h"
#include "server/api/source.h"
#include "server/rpc/call_site.h"
#include "server/rpc/status_map.h"

namespace hai {

// A call that has not been finished; copies are the same call.
class UnaryCall {
 public:
  UnaryCall(const StandingBoard& standing, grpc::CallbackServerContext* context,
            grpc::ServerUnaryReactor* reactor)
      : standing_(&standing), context_(context), reactor_(reactor) {}

  void finish(const grpc::Status& status) const {
    add_standing(*standing_, *context_, status);
    reactor_->Finish(status);
  }

 private:
  const StandingBoard* standing_;
  grpc::CallbackServerContext* context_;
  grpc::ServerUnaryReactor* reactor_;
};

// The `done` of a query or action: fills the reply with `fill(value)` and finishes the call.
template <typename T, typename Fill>
Done<T> finish_with(UnaryCall call, Fill fill) {
  return [call, fill](Result<T> result) {
    if (!result.is_ok()) return call.finish(to_grpc(result.status()));
    fill(result.value());
    call.finish(grpc::Status::OK);
  };
}

// Runs `run(call)` on the loop.
template <typename Run>
grpc::ServerUnaryReactor* on_loop(const CallSite& site, grpc::CallbackServerContext* context,
                                  Run run) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  site.loop.post(
      [call = UnaryCall(site.standing, context, reactor), run = std::move(run)] { run(call); });
  return reactor;
}

// For requests that make no sense: no need to ask anybody.
inline grpc::ServerUnaryReactor* refuse(grpc::CallbackServerContext* context,
                                        const Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(to_grpc(status));
  return reactor;
}

}  // namespace hai
