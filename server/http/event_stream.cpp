#include "server/http/event_stream.h"

#include <fmt/core.h>

#include "proto/json/json_writer.h"
#include "server/api/call_queue.h"
#include "server/api/event_feed.h"
#include "server/api/messages.h"

namespace hai {

namespace {

constexpr int kPage = 200;

std::string frame_text(const EventView& view) {
  v1::Event event;
  to_proto(view, event);
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", view.seq, view.kind, to_json_text(event));
}

//   catching up: pages through the loop ──has all the feed has──▶ watching: pieces of the hub
class EventStream : public std::enable_shared_from_this<EventStream> {
 public:
  EventStream(const EventStreamParts& parts, Caller caller, EventListRequest list,
              EventFilter filter)
      : parts_(parts),
        caller_(std::move(caller)),
        list_(std::move(list)),
        filter_(std::move(filter)) {}
  ~EventStream() {
    if (watcher_ != 0) parts_.hub.remove(watcher_);
  }

  // On the loop's thread, before the first piece is asked for: the caller must be let in as long as
  // the stream lives, and see what its filter lets through.
  Status begin() {
    Result<OpenStreams::Place> place = parts_.streams.open(
        caller_, OpenStreams::Kind::other,
        [weak = weak_from_this()](const Status& why) {
          auto self = weak.lock();
          if (!self) return;
          self->refused_ = why;
          if (self->watcher_ != 0) self->parts_.hub.end(self->watcher_, why.message());
        },
        filter_.sight);
    if (!place.is_ok()) return place.status();
    place_ = std::move(place).value();
    return ok();
  }

  void next(HttpChunkDone done) {
    if (has_ended_) return done(std::nullopt);
    if (watcher_ != 0) return parts_.hub.next(watcher_, std::move(done));
    parts_.queue.post(parts_.user,
                      [self = shared_from_this(), done = std::move(done)] { self->page(done); });
  }

 private:
  void end(const HttpChunkDone& done, const Status& why) {
    has_ended_ = true;
    done(end_frame(*list_.after_seq, why.message()));
  }

  void page(const HttpChunkDone& done) {
    parts_.queries.list_events(caller_, list_,
                               [self = shared_from_this(), done](Result<EventPage> page) {
                                 if (!page.is_ok()) return self->end(done, page.status());
                                 self->paged(std::move(page).value(), done);
                               });
  }

  // On the loop's thread, where events become durable: between here and the hub none is lost.
  void paged(EventPage page, const HttpChunkDone& done) {
    if (refused_) return end(done, *refused_);
    list_.after_seq = std::max(*list_.after_seq, page.seen_to);
    const EventFeed& feed = parts_.queries.feed();
    if (*list_.after_seq >= feed.last_seq()) {
      parts_.hub.begin(feed.last_seq());
      watcher_ = parts_.hub.add(filter_, feed.last_seq());
    }
    std::string text;
    for (const EventView& event : page.events) text += frame_text(event);
    if (!text.empty()) return done(std::move(text));
    if (watcher_ != 0) return parts_.hub.next(watcher_, done);
    this->page(done);
  }

  const EventStreamParts parts_;
  const Caller caller_;
  EventListRequest list_;
  const EventFilter filter_;
  EventHub::WatcherId watcher_ = 0;
  OpenStreams::Place place_;
  std::optional<Status> refused_;  // why the caller is not let in any more
  bool has_ended_ = false;
};

}  // namespace

void open_event_stream(const EventStreamParts& parts, const Caller& caller, EventListRequest list,
                       Done<HttpStream> done) {
  list.limit = kPage;
  auto open = [parts, caller, list, done](JobId job, const std::string& owner) {
    parts.queries.controller().read(
        caller,
        [=](const Controller::ReadContext& context, const Actor& actor) {
          Result<EventFilter> filter =
              EventFilter::make(context.state, actor, parts.queries.sight_of(context.state, actor),
                                job, owner, list.node, list.kinds);
          if (!filter.is_ok()) return done(filter.status());
          EventListRequest from = list;
          if (*from.after_seq < 0) from.after_seq = parts.queries.feed().last_seq();
          auto stream = std::make_shared<EventStream>(parts, caller, from, filter.value());
          if (Status status = stream->begin(); !status.is_ok()) return done(status);
          done(HttpStream([stream](HttpChunkDone chunk) { stream->next(std::move(chunk)); }));
        },
        done);
  };
  if (list.job.empty()) return open(JobId{}, "");
  parts.queries.find_job(caller, list.job, [open, done](Result<Queries::FoundJob> found) {
    if (!found.is_ok()) return done(found.status());
    open(found.value().job.id, found.value().job.user);
  });
}

EventHub::Frame event_frame(const ClusterState& state, const Event& event) {
  EventHub::Frame frame{event, frame_text(view_event(state, event)), job_owner(state, event.body)};
  if (row_of(event.body)) {
    const Sight stranger{.of_others = Seen::row};
    frame.row = frame_text(view_event(state, event, stranger, frame.owner));
  }
  return frame;
}

}  // namespace hai
