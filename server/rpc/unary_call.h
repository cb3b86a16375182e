#pragma once
// How every unary call runs: post to the loop, ask there, finish from there. gRPC keeps request,
// reply and context alive until Finish.

#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <string>

#include "common/loop.h"
#include "server/api/source.h"
#include "server/rpc/call_site.h"
#include "server/rpc/status_map.h"

namespace hai {

// A call that has not been finished; copies are the same call.
class UnaryCall {
 public:
  UnaryCall(const CallSite& site, const char* method, int64_t weight,
            grpc::CallbackServerContext* context, grpc::ServerUnaryReactor* reactor)
      : site_(&site), method_(method), weight_(weight), context_(context), reactor_(reactor) {}

  void finish(const grpc::Status& status) const {
    site_->admission.leave(weight_);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    site_->meter.note("", method_, code_word(status), took.count());
    add_standing(site_->standing, *context_, status);
    reactor_->Finish(status);
  }

 private:
  const CallSite* site_;
  const char* method_;
  int64_t weight_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
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

// A server with too much to do says so at once, and when to ask again.
inline grpc::ServerUnaryReactor* refuse_busy(const CallSite& site,
                                             grpc::CallbackServerContext* context) {
  context->AddTrailingMetadata(kRetryAfterKey, std::to_string(Admission::kRetryAfterMs));
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(to_grpc(resource_exhausted("{}", site.admission.refusal())));
  return reactor;
}

// Runs `run(call)` on the loop, or refuses if too much is under way. Counted under the name of the
// function that calls this: those of the service's methods.
template <typename Run>
grpc::ServerUnaryReactor* on_loop(const CallSite& site, grpc::CallbackServerContext* context,
                                  Run run, Admission::Kind kind = Admission::Kind::other,
                                  int64_t weight = 1, const char* method = __builtin_FUNCTION()) {
  if (!site.admission.enter(kind, weight)) return refuse_busy(site, context);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  site.loop.post([call = UnaryCall(site, method, weight, context, reactor),
                  run = std::move(run)]() mutable { run(call); });
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
