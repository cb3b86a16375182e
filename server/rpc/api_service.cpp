#include "server/rpc/api_service.h"

#include <algorithm>
#include <chrono>

#include "proto/json/call_options.h"
#include "server/api/audit_words.h"
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

// What a request counts for in the limits of what is under way.
template <typename Request>
int64_t weight_of(Admission::Kind kind, const Request& request) {
  int64_t jobs = 1;
  if constexpr (requires { request.jobs_size(); }) {
    if (kind == Admission::Kind::submit) jobs = request.jobs_size();
  }
  return Admission::weight(jobs, request.ByteSizeLong());
}

Admission::Kind kind_of(const char* method) {
  const auto& options = call_named(method).options();
  return options.GetExtension(v1::is_submit) ? Admission::Kind::submit : Admission::Kind::other;
}

// A call that has not been finished; copies are the same call. gRPC keeps request, reply and
// context until Finish.
class UnaryCall {
 public:
  UnaryCall(const CallSite& site, const char* method, std::shared_ptr<Admitted> admitted,
            grpc::CallbackServerContext* context, grpc::ServerUnaryReactor* reactor)
      : site_(&site),
        method_(method),
        admitted_(std::move(admitted)),
        context_(context),
        reactor_(reactor) {}

  void finish(const grpc::Status& status) const {
    admitted_->release();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    site_->meter.note("", method_, code_word(status), took.count());
    add_standing(site_->standing, *context_, status);
    reactor_->Finish(status);
  }

 private:
  const CallSite* site_;
  const char* method_;
  std::shared_ptr<Admitted> admitted_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  grpc::CallbackServerContext* context_;
  grpc::ServerUnaryReactor* reactor_;
};

// How a call has ended, for the audit log; `reply` is null where there is none.
template <typename Request, typename Reply>
void note_end(const CallSite& site, const grpc::CallbackServerContext& context, const char* method,
              const Caller& caller, const Request& request, const Reply* reply,
              const Status& status) {
  if (!site.audit.wants(method, status.code())) return;
  AuditFacts facts;
  tell_request(request, facts);
  if constexpr (audit::kTellsMore<Reply>) {
    if (reply != nullptr) tell_reply(*reply, facts);
  }
  note(site, context.peer(), method, caller, std::move(facts), status);
}

grpc::ServerUnaryReactor* refuse(const CallSite& site, grpc::CallbackServerContext& context,
                                 const char* method, const grpc::Status& status) {
  site.meter.note("", method, code_word(status), 0);
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

// A server with too much to do says so at once, and when to ask again.
grpc::ServerUnaryReactor* refuse_busy(const CallSite& site, grpc::CallbackServerContext& context,
                                      const char* method, const Status& why) {
  context.AddTrailingMetadata(kRetryAfterKey, std::to_string(Admission::kRetryAfterMs));
  return refuse(site, context, method, to_grpc(why));
}

// How the call, whose message has come, has to end here and now; ok if it may go on.
Status judge(const CallSite& site, const grpc::CallbackServerContext& context,
             const Caller& caller) {
  site.unread.end();
  const Standing standing = site.standing.get();
  return standing.answers_reads() ? admit(site, context, caller) : why_not_leading(standing);
}

template <typename Request, typename Reply>
grpc::ServerUnaryReactor* run(const CallSite& site, Operations& operations, const char* method,
                              Admission::Kind kind,
                              Prepared<Reply> (Operations::*operation)(const Request&),
                              grpc::CallbackServerContext& context, const Request& request,
                              Reply& reply) {
  Caller caller = caller_of(context);
  const auto end_of = [&site, &context, method, caller, &request](const Status& status,
                                                                  const Reply* made) {
    note_end(site, context, method, caller, request, made, status);
  };
  if (const Status why = judge(site, context, caller); !why.is_ok()) {
    // Who is only sent on to the leader was not refused.
    if (why.code() != Code::unavailable) end_of(why, nullptr);
    const grpc::Status status = to_grpc(why);
    add_standing(site.standing, context, status);
    return refuse(site, context, method, status);
  }
  const std::string user = site.callers.user_of(caller);
  std::shared_ptr<Admitted> admitted = site.admission.enter(kind, user, weight_of(kind, request));
  if (admitted == nullptr) {
    const Status why = resource_exhausted("{}", site.admission.refusal(user));
    end_of(why, nullptr);
    return refuse_busy(site, context, method, why);
  }
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  const UnaryCall call(site, method, std::move(admitted), &context, reactor);
  Prepared<Reply> prepared = (operations.*operation)(request);
  if (!prepared.is_ok()) {
    end_of(prepared.status(), nullptr);
    call.finish(to_grpc(prepared.status()));
    return reactor;
  }
  site.queue.post(user, [call, end_of, caller = std::move(caller), &reply,
                         go = std::move(prepared).value()]() mutable {
    go(caller, [call, end_of, &reply](Result<Fill<Reply>> fill) {
      if (fill.is_ok()) fill.value()(reply);
      end_of(fill.status(), fill.is_ok() ? &reply : nullptr);
      call.finish(to_grpc(fill.status()));
    });
  });
  return reactor;
}

}  // namespace

#define HAI_UNARY(name, Request, Reply)                                                         \
  grpc::ServerUnaryReactor* ApiService::name(grpc::CallbackServerContext* context,              \
                                             const v1::Request* request, v1::Reply* reply) {    \
    static const Admission::Kind kind = kind_of(#name);                                         \
    return run(site_, operations_, #name, kind, &Operations::name, *context, *request, *reply); \
  }
HAI_OPERATIONS(HAI_UNARY)
#undef HAI_UNARY

}  // namespace hai
