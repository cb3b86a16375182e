#include "agent/shim/control_requests.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/status.h"
#include "common/text_check.h"

namespace hai {

namespace {

using Json = nlohmann::json;

constexpr size_t kOpBytesShown = 64;
constexpr Duration kGraceMax = 24h * 365;  // keeps sums with it far from overflow

Result<int64_t> get_number(const Json& request, const char* name) {
  const auto number = request.find(name);
  if (number == request.end() || !number->is_number_integer()) {
    return invalid_argument("{} must be an integer", name);
  }
  return number->get<int64_t>();
}

Status handle(const Json& request, ControlPort& port) {
  if (!request.is_object()) return invalid_argument("not a JSON object");
  const std::string op =
      request.value("op", Json()).is_string() ? request["op"].get<std::string>() : "";
  if (op == "suspend") {
    const Result<int64_t> grace = get_number(request, "grace_us");
    if (!grace.is_ok()) return grace.status();
    // An older agent does not say, and its server expects no signal.
    const auto tell = request.find("tell_by_signal");
    port.suspend(Duration(std::clamp<int64_t>(grace.value(), 0, kGraceMax.count())),
                 tell != request.end() && *tell == true);
    return ok();
  }
  if (op == "lease") {
    const Result<int64_t> until = get_number(request, "until_boottime_us");
    if (!until.is_ok()) return until.status();
    port.extend_lease(MonoTime(Duration(until.value())));
    return ok();
  }
  if (op == "continue") {
    port.go_on();
    return ok();
  }
  if (op == "note") {
    const auto text = request.find("text");
    if (text == request.end() || !text->is_string()) return invalid_argument("text must be text");
    port.write_log(text->get<std::string>());
    return ok();
  }
  if (op == "kill") {
    port.kill();
    return ok();
  }
  return unimplemented("unknown op {}", printable(op.substr(0, kOpBytesShown)));
}

}  // namespace

std::string answer_control_request(std::string_view line, ControlPort& port) {
  const Status status = handle(Json::parse(line, nullptr, false), port);
  Json answer = {{"ok", status.is_ok()}};
  if (!status.is_ok()) answer["error"] = status.message();
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hai
