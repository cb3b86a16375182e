#include "server/api/event_tail.h"

#include "common/loop.h"
#include "server/api/event_feed.h"

namespace hai {

namespace {

constexpr int kBatchMax = 200;

class EventTail : public std::enable_shared_from_this<EventTail> {
 public:
  using Answer = Done<std::optional<std::vector<EventView>>>;

  EventTail(Loop& loop, Queries& queries, Caller caller, EventTailRequest request)
      : loop_(loop), queries_(queries), caller_(std::move(caller)), request_(std::move(request)) {
    if (request_.after_seq < 0) request_.after_seq = queries_.feed().last_seq();
  }
  ~EventTail() { stop_waiting(); }

  void next(Answer answer) {
    answer_ = std::move(answer);
    ask();
  }

 private:
  void ask() {
    stop_waiting();
    const EventListRequest list{.job = request_.job,
                                .node = request_.node,
                                .kinds = request_.kinds,
                                .after_seq = request_.after_seq,
                                .limit = kBatchMax};
    queries_.list_events(caller_, list, [weak = weak_from_this()](Result<EventPage> page) {
      if (auto self = weak.lock()) self->listed(std::move(page));
    });
  }

  void listed(Result<EventPage> page) {
    if (!page.is_ok()) {
      Status status = page.status();
      if (status.code() == Code::out_of_range) {
        status = resource_exhausted("event {} is not kept any more; start again from a newer one",
                                    request_.after_seq);
      }
      return give(status);
    }
    const bool has_moved = page.value().seen_to > request_.after_seq;
    request_.after_seq = std::max(request_.after_seq, page.value().seen_to);
    if (!page.value().events.empty()) return give(std::move(page).value().events);
    if (has_moved && queries_.feed().last_seq() > request_.after_seq) return ask();
    wait();
  }

  void wait() {
    if (queries_.feed().last_seq() > request_.after_seq) return ask();
    std::weak_ptr<EventTail> weak = weak_from_this();
    watch_ = queries_.feed().watch({}, [weak] {
      if (auto self = weak.lock()) self->ask();
    });
    timer_ = loop_.call_after(request_.idle, [weak] {
      if (auto self = weak.lock()) self->give(std::vector<EventView>{});
    });
  }

  void stop_waiting() {
    queries_.feed().unwatch(std::exchange(watch_, 0));
    loop_.cancel(std::exchange(timer_, 0));
  }

  void give(Result<std::vector<EventView>> events) {
    stop_waiting();
    Answer answer = std::exchange(answer_, nullptr);
    if (!answer) return;
    if (!events.is_ok()) return answer(events.status());
    answer(std::optional(std::move(events).value()));
  }

  Loop& loop_;
  Queries& queries_;
  const Caller caller_;
  EventTailRequest request_;
  Answer answer_;
  EventFeed::WatchId watch_ = 0;
  TimerId timer_ = 0;
};

}  // namespace

Source<std::vector<EventView>> tail_events(Loop& loop, Queries& queries, Caller caller,
                                           EventTailRequest request) {
  auto tail = std::make_shared<EventTail>(loop, queries, std::move(caller), std::move(request));
  return [tail](EventTail::Answer answer) { tail->next(std::move(answer)); };
}

}  // namespace hai
