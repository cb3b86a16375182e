#pragma once
// What stands before every call: a server that neither leads nor can answer from what was durable
// refuses it, whatever it asks, and says who leads. In one place for all calls: one that each had
// to remember would be forgotten, and a call for many jobs would answer OK with a refusal for each,
// which no client takes for a reason to ask the leader.

#include "server/rpc/api_service.h"

namespace hai {

class ApiGate final : public ApiService {
 public:
  using ApiService::ApiService;

#define HAI_UNARY(name, Request, Reply)                                                        \
  grpc::ServerUnaryReactor* name(grpc::CallbackServerContext*, const v1::Request*, v1::Reply*) \
      override;
#define HAI_STREAM(name, Request, Reply)                                                      \
  grpc::ServerWriteReactor<v1::Reply>* name(grpc::CallbackServerContext*, const v1::Request*) \
      override;
  HAI_API_CALLS(HAI_UNARY, HAI_STREAM)
#undef HAI_UNARY
#undef HAI_STREAM

 private:
  // How the call has to end here and now; OK if it may go on.
  grpc::Status judge(grpc::CallbackServerContext& context, const char* method) const;
};

}  // namespace hai
