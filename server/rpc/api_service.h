#pragma once
// The gRPC service of people and tools: a thin way to the operations (server/api/operations.h) and
// to the streams. A server that neither leads nor can answer from what was durable refuses each
// call, whatever it asks, and says who leads.

#include "common/loop.h"
#include "hai/v1/api.grpc.pb.h"
#include "server/api/admission.h"
#include "server/api/operations.h"
#include "server/rpc/call_site.h"
#include "server/rpc/calls_for_anyone.h"

namespace hai {

class LogRouter;
class Queries;

// Those that are for anyone are served elsewhere (calls_for_anyone.h).
using KnownCallersService =
    v1::Api::WithGenericMethod_SignIn<v1::Api::WithGenericMethod_BeginSignIn<
        v1::Api::WithGenericMethod_JoinNode<v1::Api::CallbackService>>>;

class ApiService final : public KnownCallersService {
 public:
  ApiService(const CallSite& site, Operations& operations, Queries& queries, LogRouter& logs)
      : site_(site),
        for_anyone_(site_, operations),
        operations_(operations),
        queries_(queries),
        logs_(logs) {}

  // Serves the calls that this service has given away.
  grpc::CallbackGenericService& for_anyone() { return for_anyone_; }

#define HAI_UNARY(name, Request, Reply)                                                        \
  grpc::ServerUnaryReactor* name(grpc::CallbackServerContext*, const v1::Request*, v1::Reply*) \
      override;
  HAI_OPERATIONS(HAI_UNARY)
#undef HAI_UNARY
  grpc::ServerWriteReactor<v1::ReadLogReply>* ReadLog(grpc::CallbackServerContext*,
                                                      const v1::ReadLogRequest*) override;
  grpc::ServerWriteReactor<v1::Job>* WatchJob(grpc::CallbackServerContext*,
                                              const v1::WatchJobRequest*) override;
  grpc::ServerWriteReactor<v1::Event>* WatchEvents(grpc::CallbackServerContext*,
                                                   const v1::WatchEventsRequest*) override;

 private:
  const CallSite site_;
  CallsForAnyone for_anyone_;
  Operations& operations_;
  Queries& queries_;
  LogRouter& logs_;
};

}  // namespace hai
