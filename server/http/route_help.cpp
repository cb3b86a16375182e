#include "server/http/route_help.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "server/auth/token.h"

namespace hai {

namespace {

// Keeps the source where it belongs: made, asked and destroyed on the loop's thread.
class LoopSource : public std::enable_shared_from_this<LoopSource> {
 public:
  LoopSource(Loop& loop, Source<std::string> source)
      : loop_(loop), source_(std::make_shared<Source<std::string>>(std::move(source))) {}
  ~LoopSource() {
    loop_.post([source = std::move(source_)] {});
  }

  void next(HttpChunkDone done) {
    loop_.post([source = source_, done = std::move(done)] {
      (*source)([done](Result<std::optional<std::string>> piece) {
        // The status line is long gone: an error can only end the body.
        done(piece.is_ok() ? std::move(piece).value() : std::nullopt);
      });
    });
  }

 private:
  Loop& loop_;
  std::shared_ptr<Source<std::string>> source_;
};

}  // namespace

Caller caller_of(const HttpRequest& request) {
  const std::string_view token = bearer_token(request.header("authorization"));
  if (token.empty()) return {};
  return {.token_hash = hash_token(token)};
}

Result<int64_t> query_integer(const HttpRequest& request, std::string_view key, int64_t standard) {
  const std::string_view text = request.query_value(key);
  if (text.empty()) return standard;
  int64_t value = 0;
  auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return invalid_argument("{}: {} is no whole number", key, text);
  }
  return value;
}

Result<int> query_limit(const HttpRequest& request, int standard, int max) {
  Result<int64_t> limit = query_integer(request, "limit", standard);
  if (!limit.is_ok()) return limit.status();
  if (limit.value() < 1 || limit.value() > max) {
    return invalid_argument("limit: must be 1 to {}, is {}", max, limit.value());
  }
  return static_cast<int>(limit.value());
}

Result<std::vector<std::string>> fields_of(const HttpRequest& request) {
  constexpr size_t kFieldsMax = 64;
  std::vector<std::string> fields;
  std::string_view text = request.query_value("fields");
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (end > 0) fields.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (fields.size() > kFieldsMax) return invalid_argument("fields: at most {}", kFieldsMax);
  }
  return fields;
}

Json only(Json item, const std::vector<std::string>& fields) {
  if (fields.empty()) return item;
  Json part = Json::object();
  for (const std::string& field : fields) {
    if (item.contains(field)) part[field] = std::move(item[field]);
  }
  return part;
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
  response.body = to_text(body);
  return response;
}

Done<CommandReply> respond_empty(HttpRespond respond) {
  return [respond](Result<CommandReply> reply) {
    respond(reply.is_ok() ? HttpResponse{.status = 204} : problem(reply.status()));
  };
}

Result<bool> query_boolean(const HttpRequest& request, std::string_view key) {
  const std::string_view text = request.query_value(key);
  if (text.empty() || text == "false" || text == "0") return false;
  if (text == "true" || text == "1") return true;
  return invalid_argument("{}: must be true or false, is {}", key, text);
}

Result<std::string> reason_of(const HttpRequest& request) {
  if (request.body.empty()) return std::string();
  const auto body = nlohmann::json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object()) return invalid_argument("the body must be a JSON object or empty");
  for (const auto& [key, value] : body.items()) {
    if (key != "reason") return invalid_argument("{}: unknown key; known is: reason", key);
    if (!value.is_string()) return invalid_argument("reason: must be a string");
  }
  return body.value("reason", std::string());
}

HttpResponse json_response(const Json& json, int status) {
  return {.status = status, .body = to_text(json)};
}

HttpResponse list_response(std::string_view key, Json items, Json next_cursor) {
  Json body = Json::object();
  body[std::string(key)] = std::move(items);
  body["next_cursor"] = std::move(next_cursor);
  return json_response(body);
}

HttpResponse text_response(std::string text, std::string content_type) {
  return {.content_type = content_type + "; charset=utf-8", .body = std::move(text)};
}

HttpStream stream_of(Loop& loop, Source<std::string> source) {
  auto shared = std::make_shared<LoopSource>(loop, std::move(source));
  return [shared](HttpChunkDone done) { shared->next(std::move(done)); };
}

}  // namespace hai
