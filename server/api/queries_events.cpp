// Events: the newest from the feed's ring, older ones from the history.

#include <algorithm>

#include "server/api/event_feed.h"
#include "server/api/event_filter.h"
#include "server/api/queries.h"

namespace hai {

namespace {

// Everything the ring can say to the request; nullopt if it does not reach back far enough, unless
// that is all there is.
std::optional<EventPage> page_from_feed(const EventFeed& feed, const ClusterState& state,
                                        const EventListRequest& request, const EventFilter& filter,
                                        bool is_all_there_is) {
  EventPage page;
  const auto limit = static_cast<size_t>(request.limit);
  if (request.after_seq) {
    if (*request.after_seq < feed.before_first()) return std::nullopt;
    // Counted up only while there are more: any number may be asked for, also the last of all.
    for (int64_t seq = *request.after_seq; seq < feed.last_seq();) {
      const Event& event = *feed.find(++seq);
      if (!filter.passes(state, event)) continue;
      page.events.push_back(view_event(state, event, filter.sight, filter.owner_of(state, event)));
      if (page.events.size() == limit) {
        if (seq < feed.last_seq()) page.next = seq;
        page.seen_to = seq;
        return page;
      }
    }
    page.seen_to = feed.last_seq();
    return page;
  }
  int64_t seq = feed.last_seq();
  if (request.before_seq) seq = std::min(seq, *request.before_seq - 1);
  for (; seq > feed.before_first(); --seq) {
    const Event& event = *feed.find(seq);
    if (!filter.passes(state, event)) continue;
    page.events.push_back(view_event(state, event, filter.sight, filter.owner_of(state, event)));
    if (page.events.size() == limit) {
      if (seq > 1) page.next = seq;
      return page;
    }
  }
  // The ring is used up, and there may be older ones.
  if (feed.before_first() > 0 && !is_all_there_is) return std::nullopt;
  return page;
}

// The history can look for one node; for several it gives all events, and the filter chooses.
NodeId the_only(const std::set<NodeId>& nodes) {
  return nodes.size() == 1 ? *nodes.begin() : NodeId{};
}

}  // namespace

void Queries::list_events(const Caller& caller, const EventListRequest& request,
                          Done<EventPage> done) {
  if (request.limit < 1 || request.limit > kPageMax) {
    return done(invalid_argument("a page has 1 to {} events, {} asked", kPageMax, request.limit));
  }
  if (request.after_seq.value_or(0) < 0 || request.before_seq.value_or(0) < 0) {
    return done(invalid_argument("event numbers are not negative"));
  }
  auto list = [this, caller, request, done](JobId job, const std::string& owner) {
    controller_.read(
        caller,
        [this, caller, request, done, job, owner](const Controller::ReadContext& context,
                                                  const Actor& actor) {
          Result<EventFilter> filter =
              EventFilter::make(context.state, actor, sight_of(context.state, actor), job, owner,
                                request.node, request.kinds);
          if (!filter.is_ok()) return done(filter.status());
          const bool is_stale = context.stale_since.has_value();
          auto page = page_from_feed(feed_, context.state, request, filter.value(), is_stale);
          if (page) return done(std::move(*page));
          if (is_stale) {
            return done(unavailable("older events are in the database, which cannot be reached"));
          }
          if (history_ == nullptr) {
            return done(Status(Code::out_of_range, "older events are not kept by this server"));
          }
          events_of_history(caller,
                            {.after_seq = request.after_seq,
                             .before_seq = request.before_seq,
                             .job = job,
                             .node = the_only(filter.value().nodes),
                             // Without an index it pays only among the events of one thing.
                             .kinds = job ? request.kinds : std::vector<std::string>{},
                             .limit = request.limit},
                            filter.value(), done);
        },
        done);
  };
  if (request.job.empty()) return list(JobId{}, "");
  find_job(caller, request.job, [list, done](Result<FoundJob> found) {
    if (!found.is_ok()) return done(found.status());
    list(found.value().job.id, found.value().job.user);
  });
}

void Queries::events_of_history(const Caller& caller, const EventQuery& query,
                                const EventFilter& filter, Done<EventPage> done) {
  // What is in the feed is durable, so the history knows it when it is asked from now on.
  const int64_t known_to = feed_.last_seq();
  history_->events(
      query, [this, caller, query, filter, known_to, done](Result<std::vector<Event>> events) {
        if (!events.is_ok()) return done(events.status());
        controller_.read(
            caller,
            [query, filter, known_to, done, events = std::move(events).value()](
                const Controller::ReadContext& context, const Actor&) {
              EventPage page;
              for (const Event& event : events) {
                if (!filter.passes(context.state, event)) continue;
                page.events.push_back(view_event(context.state, event, filter.sight,
                                                 filter.owner_of(context.state, event)));
              }
              const bool is_full = events.size() == static_cast<size_t>(query.limit);
              if (is_full) page.next = events.back().seq;
              page.seen_to = is_full ? events.back().seq : known_to;
              done(std::move(page));
            },
            done);
      });
}

}  // namespace hai
