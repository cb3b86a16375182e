#include "server/http/problem.h"

#include <nlohmann/json.hpp>

namespace hai {

int http_status(Code code) {
  switch (code) {
    case Code::ok:
      return 200;
    case Code::invalid_argument:
    case Code::out_of_range:
      return 400;
    case Code::unauthenticated:
      return 401;
    case Code::permission_denied:
      return 403;
    case Code::not_found:
      return 404;
    case Code::already_exists:
    case Code::failed_precondition:
    case Code::aborted:
      return 409;
    case Code::resource_exhausted:
      return 429;
    case Code::cancelled:
      return 499;
    case Code::unimplemented:
      return 501;
    case Code::unavailable:
      return 503;
    case Code::deadline_exceeded:
      return 504;
    case Code::unknown:
    case Code::internal:
    case Code::data_loss:
      return 500;
  }
  return 500;
}

HttpResponse problem(int http_status, std::string_view code, std::string_view detail) {
  const nlohmann::ordered_json body = {
      {"type", "about:blank"}, {"title", code}, {"status", http_status}, {"detail", detail}};
  HttpResponse response{.status = http_status, .content_type = "application/problem+json"};
  response.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (http_status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (http_status == 503 || http_status == 429) response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse problem(const Status& status) {
  HttpResponse response =
      problem(http_status(status.code()), to_string(status.code()), status.message());
  response.error = status;
  return response;
}

}  // namespace hai
