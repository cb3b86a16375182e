#pragma once
// Sends a pulled source over a server stream: asks for the next message only when the last one is
// written, so gRPC's flow control reaches back to the source. Everything but gRPC's callbacks is on
// the loop's thread; owns itself until gRPC is done with it.

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/loop.h"
#include "server/api/source.h"
#include "server/rpc/call_site.h"
#include "server/rpc/status_map.h"

namespace hai {

template <typename Message>
class SourceStream final : public grpc::ServerWriteReactor<Message>,
                           public std::enable_shared_from_this<SourceStream<Message>> {
 public:
  // An answer may be several messages, or none, which only says that the source lives.
  using Batch = std::vector<Message>;

  // Words for the reader beside the messages: key and text, in ASCII. What is there when the first
  // message goes is sent with it. On the loop's thread.
  using Remarks = std::vector<std::pair<std::string, std::string>>;

  // `open` makes the source; it is called on the loop. `method` is what its refusals are counted
  // as, `facts` what the audit log is told of it with its first answer.
  static SourceStream* start(const CallSite& site, const char* method,
                             grpc::CallbackServerContext* context,
                             std::function<Source<Batch>()> open, AuditFacts facts = {},
                             std::shared_ptr<const Remarks> remarks = nullptr) {
    auto stream = std::make_shared<SourceStream>(site, method, context, std::move(facts));
    stream->remarks_ = std::move(remarks);
    stream->self_ = stream;
    site.unread.end();
    const Standing standing = site.standing.get();
    const Caller caller = caller_of(*context);
    const Status admitted =
        standing.answers_reads() ? admit(site, *context, caller) : why_not_leading(standing);
    if (!admitted.is_ok()) {
      stream->end_ = admitted;
      if (standing.answers_reads()) stream->note(admitted);
      site.meter.note("", method, code_word(to_grpc(*stream->end_)), 0);
      stream->finish();
      return stream.get();
    }
    stream->user_ = site.callers.user_of(caller);
    stream->wait_for_turn([stream = stream.get(), open = std::move(open)] {
      if (stream->finished_) return;
      stream->source_ = open();
      stream->pull();
    });
    return stream.get();
  }

  SourceStream(const CallSite& site, const char* method, grpc::CallbackServerContext* context,
               AuditFacts facts)
      : site_(site),
        loop_(site.loop),
        standing_(site.standing),
        method_(method),
        facts_(std::move(facts)),
        context_(context) {}

  void OnWriteDone(bool ok) override {
    post([this, ok] {
      write_in_flight_ = false;
      if (!ok && !end_) end_ = Status(Code::cancelled, "the reader is gone");
      go_on();
    });
  }
  void OnCancel() override {
    post([this] {
      if (!end_) end_ = Status(Code::cancelled, "the reader is gone");
      source_ = nullptr;  // Nobody waits for its answer any more.
      if (!write_in_flight_) finish();
    });
  }
  void OnDone() override {
    post([this] { source_ = nullptr; });
    std::shared_ptr<SourceStream> self = std::move(self_);
  }

 private:
  void post(std::function<void()> callback) {
    loop_.post([self = this->shared_from_this(), callback = std::move(callback)] { callback(); });
  }

  // What costs something waits for its user's turn, as calls do.
  void wait_for_turn(std::function<void()> callback) {
    site_.queue.post(
        user_, [self = this->shared_from_this(), callback = std::move(callback)] { callback(); });
  }

  void pull_in_turn() {
    wait_for_turn([this] {
      if (end_) return go_on();
      if (source_) pull();
    });
  }

  void pull() {
    source_([weak = this->weak_from_this()](Result<std::optional<Batch>> batch) {
      if (auto self = weak.lock()) self->pulled(std::move(batch));
    });
  }

  // Once: with the first answer, which says whether the reader may.
  void note(const Status& status) {
    if (std::exchange(is_noted_, true)) return;
    if (!site_.audit.wants(method_, status.code())) return;
    hai::note(site_, context_->peer(), method_, caller_of(*context_), facts_, status);
  }

  // A source may answer from inside pull(); posting keeps the stack flat.
  void pulled(Result<std::optional<Batch>> batch) {
    post([this, batch = std::move(batch)]() mutable {
      if (end_) return go_on();
      note(batch.status());
      if (!batch.is_ok()) {
        end_ = batch.status();
      } else if (!batch.value()) {
        end_ = ok();
      } else {
        batch_ = std::move(*batch.value());
        sent_ = 0;
      }
      go_on();
    });
  }

  void go_on() {
    if (write_in_flight_ || finished_) return;
    if (end_) return finish();
    if (sent_ == batch_.size()) return pull_in_turn();
    write_in_flight_ = true;
    if (!std::exchange(has_written_, true)) begin_answer();
    this->StartWrite(&batch_[sent_++]);
  }

  void begin_answer() {
    add_standing(standing_, *context_, grpc::Status::OK);
    if (!remarks_) return;
    for (const auto& [key, text] : *remarks_) context_->AddInitialMetadata(key, text);
  }

  void finish() {
    if (std::exchange(finished_, true)) return;
    source_ = nullptr;
    const grpc::Status status = to_grpc(*end_);
    if (!status.ok() || !has_written_) add_standing(standing_, *context_, status);
    this->Finish(status);
  }

  const CallSite& site_;
  Loop& loop_;
  const StandingBoard& standing_;
  const char* method_;
  const AuditFacts facts_;
  std::shared_ptr<const Remarks> remarks_;
  std::string user_;  // whose turn it takes
  bool is_noted_ = false;
  grpc::CallbackServerContext* context_;  // gRPC's; valid until OnDone
  std::shared_ptr<SourceStream> self_;    // gRPC's share, given back in OnDone
  Source<Batch> source_;
  Batch batch_;
  size_t sent_ = 0;
  std::optional<Status> end_;
  bool write_in_flight_ = false;
  bool has_written_ = false;
  bool finished_ = false;
};

// Converts each answer of a source.
template <typename Message, typename T, typename Convert>
Source<std::vector<Message>> convert_source(Source<T> source, Convert convert) {
  return [source = std::move(source), convert](Done<std::optional<std::vector<Message>>> done) {
    source([done, convert](Result<std::optional<T>> answer) {
      if (!answer.is_ok()) return done(answer.status());
      if (!answer.value()) return done(std::optional<std::vector<Message>>());
      done(std::optional(convert(*answer.value())));
    });
  };
}

}  // namespace hai
