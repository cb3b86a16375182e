#include "server/http/route_help.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "server/api/call_queue.h"
#include "server/api/caller_board.h"
#include "server/auth/token.h"
#include "server/http/cookies.h"
#include "server/http/json.h"
#include "server/http/routes.h"

namespace hai {

namespace {

// Keeps the source where it belongs: made, asked and destroyed on the loop's thread.
class LoopSource : public std::enable_shared_from_this<LoopSource> {
 public:
  LoopSource(const HttpParts& parts, std::string user, Source<std::string> source)
      : loop_(parts.loop),
        queue_(parts.queue),
        user_(std::move(user)),
        source_(std::make_shared<Source<std::string>>(std::move(source))) {}
  ~LoopSource() {
    loop_.post([source = std::move(source_)] {});
  }

  void next(HttpChunkDone done) {
    queue_.post(user_, [source = source_, done = std::move(done)] {
      (*source)([done](Result<std::optional<std::string>> piece) {
        // The status line is long gone: an error can only end the body.
        done(piece.is_ok() ? HttpChunk(std::move(piece).value()) : HttpChunk::cut());
      });
    });
  }

 private:
  Loop& loop_;
  CallQueue& queue_;
  const std::string user_;  // whose turn it takes
  std::shared_ptr<Source<std::string>> source_;
};

}  // namespace

std::string_view session_cookie(const HttpRequest& request) {
  return cookie_of(request, kSessionCookie);
}

Status check_csrf(const HttpRequest& request) {
  if (!request.header("authorization").empty()) return ok();
  if (request.method == "GET" || request.method == "HEAD") return ok();
  const std::string_view secret = session_cookie(request);
  if (secret.empty() || equal_secrets(request.header("x-hai-csrf"), csrf_of(secret))) return ok();
  return permission_denied(
      "a change by the cookie of a session needs the header X-Hai-Csrf, which signing in gave");
}

bool is_from_here(const HttpRequest& request) {
  const std::string_view origin = request.header("origin");
  const size_t scheme = origin.find("://");
  return origin.empty() ||
         (scheme != std::string_view::npos && origin.substr(scheme + 3) == request.header("host"));
}

Caller caller_of(const HttpRequest& request) {
  // Whoever says one thing in Authorization is not taken for another one by his cookie.
  if (const std::string_view authorization = request.header("authorization");
      !authorization.empty()) {
    const std::string_view token = bearer_token(authorization);
    return token.empty() ? Caller{} : Caller{.token_hash = hash_token(token)};
  }
  const std::string_view secret = session_cookie(request);
  if (secret.empty() || !check_csrf(request).is_ok()) return {};
  return {.token_hash = hash_token(secret)};
}

HttpResponse spec_problem(const std::vector<FieldError>& errors) {
  HttpResponse response = problem(to_status(errors));
  Json body = Json::parse(response.body);
  Json list = Json::array();
  for (size_t i = 0; i < errors.size() && i < kFieldErrorsMax; ++i) {
    list.push_back({{"line", errors[i].line == 0 ? Json() : Json(errors[i].line)},
                    {"path", errors[i].path},
                    {"message", errors[i].message}});
  }
  body["errors"] = std::move(list);
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return response;
}

HttpResponse text_response(std::string text, std::string content_type) {
  return {.content_type = content_type + "; charset=utf-8", .body = std::move(text)};
}

HttpStream stream_of(const HttpParts& parts, const Caller& caller, Source<std::string> source) {
  auto shared =
      std::make_shared<LoopSource>(parts, parts.callers.user_of(caller), std::move(source));
  return [shared](HttpChunkDone done) { shared->next(std::move(done)); };
}

}  // namespace hai
