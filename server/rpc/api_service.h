#pragma once
// The gRPC service of people and tools: a thin way to the operations (server/api/operations.h) and
// to the streams. A server that neither leads nor can answer from what was durable refuses each
// call, whatever it asks, and says who leads.

#include "common/loop.h"
#include "hai/v1/api.grpc.pb.h"
#include "server/api/admission.h"
#include "server/api/operations.h"
#include "server/rpc/call_site.h"

namespace hai {

class LogRouter;
class Queries;

class ApiService final : public v1::Api::CallbackService {
 public:
  struct Parts {
    Loop& loop;
    const StandingBoard& standing;
    const CallerBoard& callers;
    Operations& operations;
    Queries& queries;
    LogRouter& logs;
    Admission& admission;
    RequestMeter& meter;
    AuditTrail& audit;
    KnownPeers& known;
  };
  explicit ApiService(Parts parts)
      : site_{parts.loop,  parts.standing, parts.callers, parts.admission,
              parts.meter, parts.audit,    parts.known},
        operations_(parts.operations),
        queries_(parts.queries),
        logs_(parts.logs) {}

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
  Operations& operations_;
  Queries& queries_;
  LogRouter& logs_;
};

}  // namespace hai
