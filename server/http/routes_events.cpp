// /api/v1/events as server-sent events, and the events of one job as a list.

#include <nlohmann/json.hpp>

#include "server/http/event_stream.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

Result<EventListRequest> list_request(const HttpRequest& request, const std::string& job) {
  EventListRequest list{.job = job,
                        .node = std::string(request.query_value("node")),
                        .kinds = request.query_values("kind")};
  Result<int> limit = query_limit(request, kPageDefault, kPageMax);
  if (!limit.is_ok()) return limit.status();
  list.limit = limit.value();
  for (auto [key, out] : {std::pair("after", &list.after_seq), {"before", &list.before_seq}}) {
    Result<int64_t> seq = query_integer(request, key, -1);
    if (!seq.is_ok()) return seq.status();
    if (seq.value() >= 0) *out = seq.value();
  }
  return list;
}

HttpResponse format_page(const EventPage& page) {
  Json events = Json::array();
  for (const EventView& event : page.events) events.push_back(to_json(event));
  return list_response("events", std::move(events), page.next ? Json(*page.next) : Json());
}

void list_events(const HttpParts& parts, const HttpRequest& request, const std::string& job,
                 HttpRespond respond) {
  Result<EventListRequest> list = list_request(request, job);
  if (!list.is_ok()) return respond(problem(list.status()));
  parts.loop.post([&parts, caller = caller_of(request), list = list.value(), respond] {
    parts.queries.list_events(caller, list, respond_with<EventPage>(respond, format_page));
  });
}

// A browser that reconnects says where it was in Last-Event-ID.
Result<EventListRequest> stream_request(const HttpRequest& request) {
  EventListRequest tail{.job = std::string(request.query_value("job")),
                        .node = std::string(request.query_value("node")),
                        .kinds = request.query_values("kind")};
  HttpRequest resumed;
  const std::string_view last = request.header("last-event-id");
  resumed.query = {{"after", std::string(last.empty() ? request.query_value("after") : last)}};
  Result<int64_t> after = query_integer(resumed, "after", -1);
  if (!after.is_ok()) return after.status();
  tail.after_seq = std::max<int64_t>(after.value(), -1);
  return tail;
}

void stream_events(const HttpParts& parts, const HttpRequest& request, HttpRespond respond) {
  Result<EventListRequest> list = stream_request(request);
  if (!list.is_ok()) return respond(problem(list.status()));
  parts.loop.post([&parts, caller = caller_of(request), list = list.value(), respond] {
    open_event_stream({parts.loop, parts.queries, parts.events}, caller, list,
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
  router.add(
      "GET", "/api/v1/jobs/{id}/events",
      [&parts](const HttpRequest& request, const Parameters& parameters, HttpRespond respond) {
        list_events(parts, request, parameters.at("id"), std::move(respond));
      });
  router.add("GET", "/api/v1/events",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               const bool wants_stream =
                   request.header("accept").find("text/event-stream") != std::string_view::npos;
               if (!wants_stream && request.query_value("format") == "list") {
                 return list_events(parts, request, std::string(request.query_value("job")),
                                    std::move(respond));
               }
               stream_events(parts, request, std::move(respond));
             });
}

}  // namespace hai
