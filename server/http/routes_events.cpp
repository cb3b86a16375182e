// /api/v1/events: as server-sent events, or with format=list as a page.

#include "proto/json/json_reader.h"
#include "server/http/event_stream.h"
#include "server/http/routes.h"
#include "server/http/run_operation.h"

namespace hai {

namespace {

void list_events(const HttpParts& parts, const HttpRequest& http, const HttpRespond& respond) {
  v1::ListEventsRequest request;
  for (const auto& [name, value] : http.query) {
    // The job stands in the path of the route that is of one job.
    const Status status = read_parameter(name == "job" ? "id" : name, value, request);
    if (!status.is_ok()) return respond(problem(status));
  }
  run_operation(parts, caller_of(http), parts.operations.ListEvents(request), respond);
}

// A browser that reconnects says where it was in Last-Event-ID.
Result<EventListRequest> stream_request(const HttpRequest& http) {
  v1::WatchEventsRequest request;
  request.set_after_seq(-1);
  for (const auto& [name, value] : http.query) {
    RETURN_IF_ERROR(read_parameter(name, value, request));
  }
  if (const std::string_view last = http.header("last-event-id"); !last.empty()) {
    RETURN_IF_ERROR(read_parameter("after", std::string(last), request));
  }
  return EventListRequest{.job = request.job(),
                          .node = request.node(),
                          .kinds = {request.kinds().begin(), request.kinds().end()},
                          .after_seq = std::max<int64_t>(request.after_seq(), -1)};
}

void stream_events(const HttpParts& parts, const HttpRequest& http, const HttpRespond& respond) {
  Result<EventListRequest> list = stream_request(http);
  if (!list.is_ok()) return respond(problem(list.status()));
  const Caller caller = caller_of(http);
  const std::string user = parts.callers.user_of(caller);
  parts.queue.post(user, [&parts, caller, user, list = list.value(), respond] {
    open_event_stream({parts.queue, user, parts.queries, parts.events, parts.streams}, caller, list,
                      [respond](Result<HttpStream> stream) {
                        if (!stream.is_ok()) return respond(problem(stream.status()));
                        HttpResponse response{.content_type = "text/event-stream"};
                        response.body = "retry: 1000\n\n";
                        response.headers.emplace_back("X-Accel-Buffering", "no");
                        response.stream = std::move(stream).value();
                        respond(std::move(response));
                      });
  });
}

}  // namespace

void add_event_routes(HttpRouter& router, const HttpParts& parts) {
  add_by_hand(
      router, "WatchEvents",
      [&parts](const HttpRequest& http, const HttpRouter::Parameters&, HttpRespond respond) {
        const bool wants_stream =
            http.header("accept").find("text/event-stream") != std::string_view::npos;
        const bool is_list = !wants_stream && http.query_value("format") == "list";
        is_list ? list_events(parts, http, respond) : stream_events(parts, http, respond);
      });
}

}  // namespace hai
