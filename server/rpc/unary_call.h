#pragma once
// How every unary call runs: post to the loop, ask there, finish from there. gRPC keeps request and
// reply alive until Finish.

#include <grpcpp/support/server_callback.h>

#include "common/loop.h"
#include "server/api/source.h"
#include "server/rpc/status_map.h"

namespace hai {

// The `done` of a query or action: fills the reply with `fill(value)` and finishes the call.
template <typename T, typename Fill>
Done<T> finish_with(grpc::ServerUnaryReactor* reactor, Fill fill) {
  return [reactor, fill](Result<T> result) {
    if (!result.is_ok()) return reactor->Finish(to_grpc(result.status()));
    fill(result.value());
    reactor->Finish(grpc::Status::OK);
  };
}

// Runs `call(reactor)` on the loop.
template <typename Call>
grpc::ServerUnaryReactor* on_loop(Loop& loop, grpc::CallbackServerContext* context, Call call) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  loop.post([reactor, call = std::move(call)] { call(reactor); });
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
