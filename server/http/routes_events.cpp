// /api/v1/events as server-sent events, and the events of one job as a list.

#include <nlohmann/json.hpp>

#include "server/api/event_tail.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

Result<EventListRequest> list_request(const HttpRequest& request, const std::string& job) {
  EventListRequest list{.job = job,
                        .node = std::string(request.query_value("node")),
                        .kinds = request.query_values("kind")};
  Result<int64_t> limit = query_integer(request, "limit", kPageDefault);
  if (!limit.is_ok()) return limit.status();
  if (limit.value() < 1 || limit.value() > kPageMax) {
    return invalid_argument("limit: must be 1 to {}, is {}", kPageMax, limit.value());
  }
  list.limit = static_cast<int>(limit.value());
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

std::string format_sse(const std::vector<EventView>& events) {
  if (events.empty()) return ": alive\n\n";  // Keeps proxies from closing a silent connection.
  std::string text;
  for (const EventView& event : events) {
    text += fmt::format("id: {}\nevent: {}\ndata: {}\n", event.seq, event.kind,
                        to_text(to_json(event)));  // ends with a line end
  }
  return text;
}

// A browser that reconnects says where it was in Last-Event-ID.
Result<EventTailRequest> tail_request(const HttpRequest& request) {
  EventTailRequest tail{.job = std::string(request.query_value("job")),
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
  Result<EventTailRequest> tail = tail_request(request);
  if (!tail.is_ok()) return respond(problem(tail.status()));
  parts.loop.post([&parts, caller = caller_of(request), tail = tail.value(), respond] {
    // Whether he may look is known only after a question; the stream itself may stay silent long.
    parts.queries.who_am_i(caller, [&parts, caller, tail, respond](Result<WhoAmIView> me) {
      if (!me.is_ok()) return respond(problem(me.status()));
      auto source = tail_events(parts.loop, parts.queries, caller, tail);
      HttpResponse response{.content_type = "text/event-stream"};
      response.body = "retry: 1000\n\n";
      response.stream = stream_of(parts.loop, [source](Done<std::optional<std::string>> done) {
        source([done](Result<std::optional<std::vector<EventView>>> events) {
          if (!events.is_ok()) return done(events.status());
          if (!events.value()) return done(std::optional<std::string>());
          done(std::optional(format_sse(*events.value())));
        });
      });
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
