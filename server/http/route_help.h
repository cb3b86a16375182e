#pragma once
// What the routes share: who calls, numbers of the query, and answers.

#include <memory>
#include <optional>

#include "common/config/field_error.h"
#include "common/loop.h"
#include "server/api/source.h"
#include "server/control/command.h"
#include "server/http/http_message.h"
#include "server/http/json.h"
#include "server/http/problem.h"

namespace hai {

Caller caller_of(const HttpRequest& request);

// The number under `key`, or `standard` if it is absent.
Result<int64_t> query_integer(const HttpRequest& request, std::string_view key, int64_t standard);
// "limit": 1 to `max`.
Result<int> query_limit(const HttpRequest& request, int standard, int max);
// "fields": which keys of each item are wanted, separated by commas; none = all. `only` leaves the
// others out.
Result<std::vector<std::string>> fields_of(const HttpRequest& request);
Json only(Json item, const std::vector<std::string>& fields);
Result<bool> query_boolean(const HttpRequest& request, std::string_view key);
// "reason" of a JSON body; "" without a body.
Result<std::string> reason_of(const HttpRequest& request);

// invalid_argument with all errors of a spec, as text and one by one.
HttpResponse spec_problem(const std::vector<FieldError>& errors);
// The `done` of a command whose answer has no body: 204.
Done<CommandReply> respond_empty(HttpRespond respond);

HttpResponse json_response(const Json& json, int status = 200);
HttpResponse list_response(std::string_view key, Json items, Json next_cursor);
HttpResponse text_response(std::string text, std::string content_type = "text/plain");

// Formats later, on the HTTP server's thread.
template <typename T, typename Format>
HttpResponse format_later(T value, Format format) {
  auto shared = std::make_shared<const T>(std::move(value));
  return {.render = [shared, format] { return format(*shared); }};
}

// The `done` of a query: its error as a problem, its value through `format`.
template <typename T, typename Format>
Done<T> respond_with(HttpRespond respond, Format format) {
  return [respond, format](Result<T> result) {
    if (!result.is_ok()) return respond(problem(result.status()));
    respond(format_later(std::move(result).value(), format));
  };
}

// Answers with the pieces of a source as they come. Source and answers live on the loop's thread,
// the HTTP server asks from its own.
HttpStream stream_of(Loop& loop, Source<std::string> source);

}  // namespace hai
