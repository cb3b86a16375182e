#include "server/rpc/call_guard.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpcpp/security/auth_metadata_processor.h>

#include "server/rpc/status_map.h"
#include "server/rpc/tls_credentials.h"

namespace hai {
namespace {

std::string_view text_of(const grpc::string_ref& text) { return {text.data(), text.size()}; }

std::string_view text_of(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

// What the guard is asked, gathered from one header after the other.
struct Headers {
  CallHead head;
  int authorizations = 0;

  void note(std::string_view key, std::string_view value) {
    if (key == ":path") head.method = value;
    if (key != "authorization") return;
    head.authorization = value;
    ++authorizations;
  }
  // Of two, the guard and the call might each look at another one.
  Status judge(const CallGuard& guard) const {
    if (authorizations > 1) return unauthenticated("there are {} authorizations", authorizations);
    return guard(head);
  }
};

class Processor final : public grpc::AuthMetadataProcessor {
 public:
  explicit Processor(CallGuard guard) : guard_(std::move(guard)) {}
  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* caller, OutputMetadata*,
                       OutputMetadata*) override {
    Headers headers{.head = {.nodes = nodes_of(*caller)}};
    if (!headers.head.nodes.empty()) headers.head.certificate_begins = begins_of(*caller);
    for (const auto& [key, value] : metadata) headers.note(text_of(key), text_of(value));
    return to_grpc(headers.judge(guard_));
  }

 private:
  const CallGuard guard_;
};

void judge(void* state, grpc_auth_context*, const grpc_metadata* metadata, size_t count,
           grpc_process_auth_metadata_done_cb done, void* call) {
  Headers headers;
  for (size_t i = 0; i < count; ++i) {
    headers.note(text_of(metadata[i].key), text_of(metadata[i].value));
  }
  const Status status = headers.judge(*static_cast<const CallGuard*>(state));
  done(call, nullptr, 0, nullptr, 0, static_cast<grpc_status_code>(status.code()),
       status.is_ok() ? nullptr : status.message().c_str());
}

class PlainCredentials final : public grpc::ServerCredentials {
 public:
  explicit PlainCredentials(CallGuard guard) {
    grpc_server_credentials_set_auth_metadata_processor(
        credentials_, {.process = judge,
                       .destroy = [](void* state) { delete static_cast<CallGuard*>(state); },
                       .state = new CallGuard(std::move(guard))});
  }
  ~PlainCredentials() override { grpc_server_credentials_release(credentials_); }
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }
  bool IsInsecure() const override { return true; }

  grpc_server_credentials* const credentials_ = grpc_insecure_server_credentials_create();
};

}  // namespace

void guard_calls(grpc::ServerCredentials& credentials, CallGuard guard) {
  credentials.SetAuthMetadataProcessor(std::make_shared<Processor>(std::move(guard)));
}

std::shared_ptr<grpc::ServerCredentials> plain_credentials(CallGuard guard) {
  return std::make_shared<PlainCredentials>(std::move(guard));
}

}  // namespace hai
