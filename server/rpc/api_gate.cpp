#include "server/rpc/api_gate.h"

#include "server/rpc/status_map.h"

namespace hai {
namespace {

// A stream that ends before its first message.
template <typename Message>
class EndedStream final : public grpc::ServerWriteReactor<Message> {
 public:
  explicit EndedStream(const grpc::Status& status) { this->Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::Status ApiGate::judge(grpc::CallbackServerContext& context, const char* method) const {
  const Standing standing = site().standing.get();
  if (standing.answers_reads()) return grpc::Status::OK;
  const grpc::Status status = to_grpc(why_not_leading(standing));
  add_standing(site().standing, context, status);
  site().meter.note("", method, code_word(status), 0);
  return status;
}

#define HAI_UNARY(name, Request, Reply)                                                   \
  grpc::ServerUnaryReactor* ApiGate::name(grpc::CallbackServerContext* context,           \
                                          const v1::Request* request, v1::Reply* reply) { \
    const grpc::Status status = judge(*context, #name);                                   \
    if (status.ok()) return ApiService::name(context, request, reply);                    \
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();                        \
    reactor->Finish(status);                                                              \
    return reactor;                                                                       \
  }
#define HAI_STREAM(name, Request, Reply)                                                   \
  grpc::ServerWriteReactor<v1::Reply>* ApiGate::name(grpc::CallbackServerContext* context, \
                                                     const v1::Request* request) {         \
    const grpc::Status status = judge(*context, #name);                                    \
    if (status.ok()) return ApiService::name(context, request);                            \
    return new EndedStream<v1::Reply>(status);                                             \
  }
HAI_API_CALLS(HAI_UNARY, HAI_STREAM)
#undef HAI_UNARY
#undef HAI_STREAM

}  // namespace hai
