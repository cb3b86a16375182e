#pragma once
// The calls that are for anyone (options.proto): signing in and joining, by callers whom nobody
// knows yet. gRPC reads the whole request of a call before it shows it to a service, and takes up
// to 4 MB; so these are served as streams of one message each way, which is the same on the wire:
// here a call is seen before its request is read, and few of strangers are being read at once.

#include <grpcpp/generic/async_generic_service.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server/api/operations.h"
#include "server/rpc/call_site.h"

namespace hai {

// So many may be inside at once, so many of one address. Any thread.
class Gate {
 public:
  struct Limits {
    int all;
    int per_address;
  };
  explicit Gate(Limits limits) : inside_(std::make_shared<Inside>()), limits_(limits) {}
  // Inside until it is dropped; null = there is no room.
  std::shared_ptr<void> enter(const std::string& address);

 private:
  struct Inside {
    std::mutex mutex;
    int all = 0;
    std::map<std::string, int> by_address;
  };
  const std::shared_ptr<Inside> inside_;
  const Limits limits_;
};

class CallsForAnyone final : public grpc::CallbackGenericService {
 public:
  static constexpr size_t kRequestBytes = 64 << 10;
  static constexpr Duration kReadTimeout = 5s;

  CallsForAnyone(const CallSite& site, Operations& operations);
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

  // What is to be done on the loop's thread; its answer is serialized.
  using Answer = std::function<void(Result<grpc::ByteBuffer>)>;
  using Go = std::function<void(const Caller&, Answer)>;
  // `facts` are what the audit log is told of it.
  using Facts = std::shared_ptr<AuditFacts>;
  using Handler = std::function<Result<Go>(grpc::ByteBuffer&, const Facts& facts)>;

 private:
  const CallSite site_;
  Gate gate_{{.all = 8, .per_address = 4}};  // callers whom nobody knows, whose requests are read
  std::map<std::string, Handler> handlers_;  // by "/hai.v1.Api/SignIn"
};

}  // namespace hai
