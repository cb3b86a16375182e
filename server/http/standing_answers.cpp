#include "server/http/standing_answers.h"

#include <fmt/core.h>

#include <functional>

#include "server/http/problem.h"

namespace hai {
namespace {

bool only_reads(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

void add_headers(UnixTime since, HttpResponse& response) {
  const std::string time = format_rfc3339(since);
  response.headers.emplace_back("Warning", fmt::format("110 - \"stale since {}\"", time));
  response.headers.emplace_back("Hai-Stale-Since", time);
}

}  // namespace

std::optional<HttpResponse> redirect_or_refuse(const Standing& standing, std::string_view scheme,
                                               const HttpRequest& request) {
  const bool is_for_leaders = request.path == "/" || request.path.starts_with("/api/");
  if (!is_for_leaders || standing.is_leading()) return std::nullopt;
  if (standing.stale_since && only_reads(request)) return std::nullopt;
  if (!standing.leader.http.empty()) return redirect_to_leader(standing, scheme, request);
  return problem(why_not_leading(standing));
}

HttpResponse redirect_to_leader(const Standing& standing, std::string_view scheme,
                                const HttpRequest& request) {
  HttpResponse response = problem(307, "standby", fmt::format("{} leads", standing.leader.http));
  response.headers.emplace_back(
      "Location", fmt::format("{}://{}{}", scheme, standing.leader.http,
                              request.target.starts_with('/') ? request.target : "/"));
  return response;
}

void mark_stale(const Standing& standing, HttpResponse& response) {
  if (!standing.stale_since) return;
  const UnixTime since = *standing.stale_since;
  if (response.render) {
    response.render = [render = std::move(response.render), since] {
      HttpResponse rendered = render();
      if (rendered.status < 300) add_headers(since, rendered);
      return rendered;
    };
  } else if (response.status < 300) {
    add_headers(since, response);
  }
}

std::string readiness_text(const Standing& standing) {
  std::string text(to_string(standing.mode));
  if (standing.is_leading()) return text;
  if (!standing.leader.grpc.empty()) return fmt::format("{}; {} leads", text, standing.leader.grpc);
  if (standing.store_is_away) text += "; the database cannot be reached";
  return standing.reason.empty() ? text : fmt::format("{}; {}", text, standing.reason);
}

}  // namespace hai
