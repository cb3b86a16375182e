#pragma once
// The body of one GET /api/v1/events: what the reader has missed from the feed or the history, then
// what comes from the hub. Made on the loop's thread, asked on the HTTP server's.

#include "server/api/open_streams.h"
#include "server/api/queries.h"
#include "server/http/event_hub.h"
#include "server/http/http_message.h"

namespace hai {

class CallQueue;

struct EventStreamParts {
  CallQueue& queue;
  std::string user;  // whose turns it takes
  Queries& queries;
  EventHub& hub;
  OpenStreams& streams;
};

// `list.after_seq` is where to begin. Answers with the stream, or an error if the caller may not
// watch or names what does not exist.
void open_event_stream(const EventStreamParts& parts, const Caller& caller, EventListRequest list,
                       Done<HttpStream> done);

// One event as the streams of all have it.
EventHub::Frame event_frame(const ClusterState& state, const Event& event);

}  // namespace hai
