#include "server/rpc/calls_for_anyone.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include <atomic>
#include <utility>

#include "proto/json/call_options.h"
#include "server/api/audit_words.h"
#include "server/rpc/connection_table.h"
#include "server/rpc/status_map.h"

namespace hai {
namespace {

using Go = CallsForAnyone::Go;
using Handler = CallsForAnyone::Handler;

template <typename Reply>
Result<grpc::ByteBuffer> to_bytes(const Fill<Reply>& fill, AuditFacts& facts) {
  Reply reply;
  fill(reply);
  if constexpr (audit::kTellsMore<Reply>) tell_reply(reply, facts);
  grpc::ByteBuffer bytes;
  bool is_owned = false;
  const grpc::Status status = grpc::SerializationTraits<Reply>::Serialize(reply, &bytes, &is_owned);
  if (!status.ok()) return Status(Code::internal, "the answer cannot be written");
  return bytes;
}

template <typename Request, typename Reply>
Handler handler_of(Operations& operations,
                   Prepared<Reply> (Operations::*operation)(const Request&)) {
  return [&operations, operation](grpc::ByteBuffer& bytes,
                                  const CallsForAnyone::Facts& facts) -> Result<Go> {
    Request request;
    if (!grpc::SerializationTraits<Request>::Deserialize(&bytes, &request).ok()) {
      return invalid_argument("the request cannot be read");
    }
    tell_request(request, *facts);
    Prepared<Reply> prepared = (operations.*operation)(request);
    if (!prepared.is_ok()) return prepared.status();
    return Go([go = std::move(prepared).value(), facts](const Caller& caller,
                                                        const CallsForAnyone::Answer& answer) {
      go(caller, [answer, facts](Result<Fill<Reply>> fill) {
        if (!fill.is_ok()) return answer(fill.status());
        answer(to_bytes<Reply>(fill.value(), *facts));
      });
    });
  };
}

class RefusedCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit RefusedCall(const grpc::Status& why) { Finish(why); }
  void OnDone() override { delete this; }
};

// Read on gRPC's thread, run on the loop's, finished by whoever is first.
class Call final : public grpc::ServerGenericBidiReactor,
                   public std::enable_shared_from_this<Call> {
 public:
  Call(const CallSite& site, grpc::GenericCallbackServerContext& context, const Handler& handler,
       Caller caller)
      : site_(site),
        context_(context),
        handler_(handler),
        caller_(std::move(caller)),
        name_(context.method().substr(context.method().rfind('/') + 1)) {}

  void begin(std::shared_ptr<void> reading) {
    reading_ = std::move(reading);
    self_ = shared_from_this();
    site_.loop.post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->timer_ = self->site_.loop.call_after(CallsForAnyone::kReadTimeout, [weak] {
        if (auto late = weak.lock()) late->was_not_read();
      });
    });
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    is_read_ = true;
    reading_ = nullptr;
    if (!ok) return finish(Status(Code::cancelled, "the call has no request"));
    if (Status status = run(); !status.is_ok()) finish(status, {}, *facts_);
  }
  void OnCancel() override { finish(Status(Code::cancelled, "the caller is gone")); }
  void OnDone() override {
    site_.loop.post(
        [self = std::exchange(self_, nullptr)] { self->site_.loop.cancel(self->timer_); });
  }

 private:
  void was_not_read() {
    if (!is_read_) finish(deadline_exceeded("the request did not come in time"));
  }

  Status run() {
    if (request_.Length() > CallsForAnyone::kRequestBytes) {
      return resource_exhausted("the request has {} bytes, {} are taken", request_.Length(),
                                CallsForAnyone::kRequestBytes);
    }
    const std::string user = site_.callers.user_of(caller_);
    std::shared_ptr<Admitted> admitted = site_.admission.enter(Admission::Kind::other, user, 1);
    if (admitted == nullptr) return resource_exhausted("{}", site_.admission.refusal(user));
    Result<Go> go = handler_(request_, facts_);
    request_.Clear();
    if (!go.is_ok()) return go.status();
    site_.queue.post(user, [self = shared_from_this(), admitted, go = std::move(go).value()] {
      go(self->caller_, [self, admitted](Result<grpc::ByteBuffer> answer) {
        admitted->release();
        if (!answer.is_ok()) return self->finish(answer.status(), {}, *self->facts_);
        self->finish(ok(), std::move(answer).value(), *self->facts_);
      });
    });
    return ok();
  }

  void finish(const Status& status, grpc::ByteBuffer reply = {}, AuditFacts facts = {}) {
    if (has_finished_.exchange(true)) return;
    if (site_.audit.wants(name_, status.code())) {
      note(site_, context_.peer(), name_, caller_, std::move(facts), status);
    }
    if (status.code() == Code::unauthenticated) {
      site_.failures.note(machine_of_peer(context_.peer()));
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    const grpc::Status answer = to_grpc(status);
    site_.meter.note("", name_.c_str(), code_word(answer), took.count());
    if (status.code() == Code::resource_exhausted) {
      context_.AddTrailingMetadata(kRetryAfterKey, std::to_string(Admission::kRetryAfterMs));
    }
    add_standing(site_.standing, context_, answer);
    if (!status.is_ok()) return Finish(answer);
    reply_ = std::move(reply);
    StartWriteAndFinish(&reply_, grpc::WriteOptions(), answer);
  }

  const CallSite& site_;
  grpc::GenericCallbackServerContext& context_;  // gRPC's; valid until OnDone
  const Handler& handler_;
  const Caller caller_;
  const std::string name_;  // "SignIn"
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::shared_ptr<Call> self_;  // gRPC's share, given back in OnDone
  std::shared_ptr<void> reading_;
  TimerId timer_ = 0;  // on the loop's thread
  const CallsForAnyone::Facts facts_ = std::make_shared<AuditFacts>();
  grpc::ByteBuffer request_;
  grpc::ByteBuffer reply_;
  std::atomic<bool> is_read_{false};
  std::atomic<bool> has_finished_{false};
};

// How the call has to end here and now; ok if it may go on.
Status judge(const CallSite& site, Gate& gate, grpc::GenericCallbackServerContext& context,
             std::shared_ptr<void>& reading, const Caller& caller) {
  const Standing standing = site.standing.get();
  if (!standing.answers_reads()) return why_not_leading(standing);
  if (site.callers.knows(caller)) return ok();
  const std::string address = machine_of_peer(context.peer());
  RETURN_IF_ERROR(site.failures.may_try(address));
  reading = gate.enter(address);
  if (reading) return ok();
  context.AddTrailingMetadata(kRetryAfterKey, std::to_string(Admission::kRetryAfterMs));
  return resource_exhausted("too many callers whom nobody knows begin a call; retry in a second");
}

}  // namespace

std::shared_ptr<void> Gate::enter(const std::string& address) {
  const std::lock_guard lock(inside_->mutex);
  int& of_address = inside_->by_address[address];
  if (inside_->all >= limits_.all || of_address >= limits_.per_address) {
    if (of_address == 0) inside_->by_address.erase(address);
    return nullptr;
  }
  ++inside_->all;
  ++of_address;
  // Not null, which would say that there is no room.
  return {inside_.get(), [inside = inside_, address](void*) {
            const std::lock_guard again(inside->mutex);
            --inside->all;
            const auto found = inside->by_address.find(address);
            if (--found->second == 0) inside->by_address.erase(found);
          }};
}

CallsForAnyone::CallsForAnyone(const CallSite& site, Operations& operations) : site_(site) {
  const std::set<std::string, std::less<>> paths = paths_for_anyone();
#define HAI_ANYONES(name, Request, Reply)                                  \
  if (paths.contains("/hai.v1.Api/" #name)) {                              \
    handlers_["/hai.v1.Api/" #name] =                                      \
        handler_of<v1::Request, v1::Reply>(operations, &Operations::name); \
  }
  HAI_OPERATIONS(HAI_ANYONES)
#undef HAI_ANYONES
  CHECK(handlers_.size() == paths.size());
}

grpc::ServerGenericBidiReactor* CallsForAnyone::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  const auto found = handlers_.find(context->method());
  if (found == handlers_.end()) {
    return new RefusedCall({grpc::StatusCode::UNIMPLEMENTED, "there is no such call"});
  }
  Caller caller = caller_of(*context);
  std::shared_ptr<void> reading;
  const Status status = judge(site_, gate_, *context, reading, caller);
  if (!status.is_ok()) {
    const grpc::Status answer = to_grpc(status);
    const std::string name = found->first.substr(found->first.rfind('/') + 1);
    site_.meter.note("", name.c_str(), code_word(answer), 0);
    // Who is only sent on to the leader was not refused.
    if (status.code() != Code::unavailable) {
      note(site_, context->peer(), name, caller, {}, status);
    }
    add_standing(site_.standing, *context, answer);
    return new RefusedCall(answer);
  }
  auto call = std::make_shared<Call>(site_, *context, found->second, std::move(caller));
  call->begin(std::move(reading));
  return call.get();
}

}  // namespace hai
