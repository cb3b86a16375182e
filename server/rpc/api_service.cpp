#include "server/rpc/api_service.h"

#include <algorithm>
#include <chrono>

#include "proto/json/call_options.h"
#include "server/auth/token.h"
#include "server/rpc/status_map.h"

namespace hai {

Caller caller_of(std::string_view authorization) {
  const std::string_view token = bearer_token(authorization);
  if (token.empty()) return {};
  return {.token_hash = hash_token(token)};
}

Caller caller_of(const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("authorization");
  if (found == metadata.end()) return {};
  return caller_of(std::string_view(found->second.data(), found->second.size()));
}

namespace {

// What a request counts for in the limits of what is under way: a batch as many as its jobs.
template <typename Request>
int64_t weight_of(Admission::Kind kind, const Request& request) {
  if constexpr (requires { request.jobs_size(); }) {
    if (kind == Admission::Kind::submit) return std::max(request.jobs_size(), 1);
  }
  return 1;
}

struct CallKind {
  Admission::Kind admission;
  bool is_for_anyone;
};

CallKind kind_of(const char* method) {
  const auto& call = call_named(method);
  const bool is_submit = call.options().GetExtension(v1::is_submit);
  return {.admission = is_submit ? Admission::Kind::submit : Admission::Kind::other,
          .is_for_anyone = is_for_anyone(call)};
}

// Of a call for anyone by somebody unknown: its request is small, and few are under way at once.
// `place` is the call's among those.
template <typename Request>
Status judge_stranger(const CallSite& site, const Request& request, std::shared_ptr<void>& place) {
  if (const size_t bytes = request.ByteSizeLong(); bytes > CallSite::kStrangersBytes) {
    return resource_exhausted("the request has {} bytes; from somebody unknown {} are taken", bytes,
                              CallSite::kStrangersBytes);
  }
  place = {nullptr, [count = site.strangers](void*) { --*count; }};
  if (++*site.strangers > CallSite::kStrangersMax) {
    return resource_exhausted("{} callers who are not known are being answered already",
                              CallSite::kStrangersMax);
  }
  return ok();
}

// A call that has not been finished; copies are the same call. gRPC keeps request, reply and
// context until Finish.
class UnaryCall {
 public:
  UnaryCall(const CallSite& site, const char* method, int64_t weight,
            grpc::CallbackServerContext* context, grpc::ServerUnaryReactor* reactor,
            std::shared_ptr<void> place)
      : site_(&site),
        method_(method),
        weight_(weight),
        context_(context),
        reactor_(reactor),
        place_(std::move(place)) {}

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
  std::shared_ptr<void> place_;  // of a stranger's call
};

grpc::ServerUnaryReactor* refuse(const CallSite& site, grpc::CallbackServerContext& context,
                                 const char* method, const grpc::Status& status) {
  site.meter.note("", method, code_word(status), 0);
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

// A server with too much to do says so at once, and when to ask again.
grpc::ServerUnaryReactor* refuse_busy(const CallSite& site, grpc::CallbackServerContext& context,
                                      const char* method) {
  context.AddTrailingMetadata(kRetryAfterKey, std::to_string(Admission::kRetryAfterMs));
  return refuse(site, context, method, to_grpc(resource_exhausted("{}", site.admission.refusal())));
}

// How the call has to end here and now; OK if it may go on.
grpc::Status judge(const CallSite& site, grpc::CallbackServerContext& context, const Caller& caller,
                   bool is_for_anyone) {
  const Standing standing = site.standing.get();
  if (standing.answers_reads()) {
    const Status admitted = admit(site, context, caller);
    return is_for_anyone ? grpc::Status::OK : to_grpc(admitted);
  }
  const grpc::Status status = to_grpc(why_not_leading(standing));
  add_standing(site.standing, context, status);
  return status;
}

template <typename Request, typename Reply>
grpc::ServerUnaryReactor* run(const CallSite& site, Operations& operations, const char* method,
                              const CallKind& kind,
                              Prepared<Reply> (Operations::*operation)(const Request&),
                              grpc::CallbackServerContext& context, const Request& request,
                              Reply& reply) {
  Caller caller = caller_of(context);
  if (const grpc::Status status = judge(site, context, caller, kind.is_for_anyone); !status.ok()) {
    return refuse(site, context, method, status);
  }
  std::shared_ptr<void> place;
  if (kind.is_for_anyone && !site.callers.knows(caller)) {
    if (const Status status = judge_stranger(site, request, place); !status.is_ok()) {
      return refuse(site, context, method, to_grpc(status));
    }
  }
  const int64_t weight = weight_of(kind.admission, request);
  if (!site.admission.enter(kind.admission, weight)) return refuse_busy(site, context, method);
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  const UnaryCall call(site, method, weight, &context, reactor, std::move(place));
  Prepared<Reply> prepared = (operations.*operation)(request);
  if (!prepared.is_ok()) {
    call.finish(to_grpc(prepared.status()));
    return reactor;
  }
  site.loop.post(
      [call, caller = std::move(caller), &reply, go = std::move(prepared).value()]() mutable {
        go(caller, [call, &reply](Result<Fill<Reply>> fill) {
          if (!fill.is_ok()) return call.finish(to_grpc(fill.status()));
          fill.value()(reply);
          call.finish(grpc::Status::OK);
        });
      });
  return reactor;
}

}  // namespace

#define HAI_UNARY(name, Request, Reply)                                                         \
  grpc::ServerUnaryReactor* ApiService::name(grpc::CallbackServerContext* context,              \
                                             const v1::Request* request, v1::Reply* reply) {    \
    static const CallKind kind = kind_of(#name);                                                \
    return run(site_, operations_, #name, kind, &Operations::name, *context, *request, *reply); \
  }
HAI_OPERATIONS(HAI_UNARY)
#undef HAI_UNARY

}  // namespace hai
