// /api/v1/cluster, its series, and /api/v1/incidents

#include <cmath>
#include <nlohmann/json.hpp>

#include <charconv>
#include "server/api/observatory.h"

#include "server/api/actions.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

constexpr Duration kWindowDefault = 6h;

struct ClusterAnswer {
  ClusterSummary summary;
  CensusView census;
};

// The sums first: they may take a few turns, the totals are of the moment of the answer.
void get_cluster(const HttpParts& parts, const Caller& caller, HttpRespond respond) {
  parts.queries.who_am_i(caller, [&parts, caller, respond](Result<WhoAmIView> me) {
    if (!me.is_ok()) return respond(problem(me.status()));
    parts.observatory.census().ask([&parts, caller, respond](const CensusView& census) {
      parts.controller.read(
          caller,
          [&parts, respond, census](const Controller::ReadContext& context, const Actor&) {
            respond(format_later(ClusterAnswer{parts.observatory.summary(context), census},
                                 [](const ClusterAnswer& answer) {
                                   Json json = to_json(answer.summary);
                                   json.update(to_json(answer.census));
                                   return json_response(json);
                                 }));
          },
          [respond](Status status) { respond(problem(status)); });
    });
  });
}

Json series_json(const ClusterSeries::Window& window) {
  Json json = {{"step_seconds", window.step / Duration(1s)}};
  Json at = Json::array();
  for (const ClusterSample& sample : window.samples) at.push_back(format_rfc3339(sample.at));
  json["at"] = std::move(at);
  for (size_t i = 0; i < kSampleWords.size(); ++i) {
    Json values = Json::array();
    for (const ClusterSample& sample : window.samples) {
      values.push_back(std::round(sample.values[i] * 10) / 10);
    }
    json[std::string(kSampleWords[i])] = std::move(values);
  }
  return json;
}

void get_series(const HttpParts& parts, const HttpRequest& request, HttpRespond respond) {
  Duration length = kWindowDefault;
  if (const std::string_view text = request.query_value("window"); !text.empty()) {
    Result<Duration> parsed = parse_duration(text);
    if (!parsed.is_ok()) {
      return respond(problem(invalid_argument("window: {}", parsed.status().message())));
    }
    length = parsed.value();
  }
  if (length < Duration(1min) || length > ClusterSeries::kWindowMax) {
    return respond(problem(invalid_argument("window: must be 1m to {}, is {}",
                                            format_duration(ClusterSeries::kWindowMax),
                                            format_duration(length))));
  }
  parts.loop.post([&parts, caller = caller_of(request), length, respond] {
    parts.controller.read(
        caller,
        [&parts, length, respond](const Controller::ReadContext&, const Actor&) {
          respond(format_later(parts.observatory.series().window(parts.loop.wall_now(), length),
                               [](const ClusterSeries::Window& window) {
                                 return json_response(series_json(window));
                               }));
        },
        [respond](Status status) { respond(problem(status)); });
  });
}

HttpResponse format_incidents(const IncidentPage& page) {
  Json incidents = Json::array();
  for (const IncidentView& view : page.incidents) incidents.push_back(to_json(view));
  return list_response("incidents", std::move(incidents),
                       page.next ? Json(std::to_string(page.next.value)) : Json());
}

void list_incidents(const HttpParts& parts, const HttpRequest& request, HttpRespond respond) {
  const std::string_view state = request.query_value("state");
  if (!state.empty() && state != "open" && state != "closed") {
    return respond(problem(invalid_argument("state: {} is neither open nor closed", state)));
  }
  Result<int64_t> cursor = query_integer(request, "cursor", 0);
  if (!cursor.is_ok()) return respond(problem(cursor.status()));
  Result<int> limit = query_limit(request, kPageDefault, kPageMax);
  if (!limit.is_ok()) return respond(problem(limit.status()));
  IncidentListRequest list{.closed = state == "closed",
                           .before = IncidentId{std::max<int64_t>(cursor.value(), 0)},
                           .limit = limit.value()};
  parts.loop.post([&parts, caller = caller_of(request), list, respond] {
    parts.queries.list_incidents(caller, list,
                                 respond_with<IncidentPage>(respond, format_incidents));
  });
}

void close_incident(const HttpParts& parts, const HttpRequest& request, const std::string& id,
                    HttpRespond respond) {
  int64_t number = 0;
  const char* end = id.data() + id.size();
  const auto parsed = std::from_chars(id.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return respond(problem(not_found("there is no incident {}", id)));
  }
  Result<std::string> reason = reason_of(request);
  if (!reason.is_ok()) return respond(problem(reason.status()));
  parts.loop.post([&parts, caller = caller_of(request), number, reason = reason.value(), respond] {
    parts.actions.close_incident(caller, {number, reason}, respond_empty(respond));
  });
}

}  // namespace

void add_cluster_routes(HttpRouter& router, const HttpParts& parts) {
  router.add("GET", "/api/v1/cluster",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               parts.loop.post([&parts, caller = caller_of(request), respond] {
                 get_cluster(parts, caller, respond);
               });
             });
  router.add("GET", "/api/v1/cluster/series",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               get_series(parts, request, std::move(respond));
             });
  router.add("GET", "/api/v1/incidents",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               list_incidents(parts, request, std::move(respond));
             });
  router.add(
      "POST", "/api/v1/incidents/{id}/close",
      [&parts](const HttpRequest& request, const Parameters& parameters, HttpRespond respond) {
        close_incident(parts, request, parameters.at("id"), std::move(respond));
      });
}

}  // namespace hai
