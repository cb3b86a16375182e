#include "server/store/event_line.h"

#include <fmt/format.h>

#include "common/json/json_text.h"
#include "server/store/json_codec.h"

namespace hai {
namespace {

Status missing(const char* what) { return invalid_argument("no event: {} is missing", what); }

}  // namespace

std::string event_line(const Event& event) {
  std::string line = fmt::format("{{\"seq\":{},\"time\":\"", event.seq);
  append_time(line, event.time);
  line += "\",\"actor\":";
  append_json_string(line, event.actor);
  line += ",\"kind\":\"";
  line += kind_of(event.body);
  line += "\",\"body\":";
  line += to_json(event.body);
  line += '}';
  return line;
}

Result<Event> event_from_line(std::string_view line) {
  Result<JsonView> json = JsonView::parse(line);
  if (!json.is_ok()) return json.status();
  JsonView::Members members;
  if (!json.value().members(members)) return invalid_argument("no event: expected an object");
  Event event;
  std::optional<int64_t> seq;
  std::optional<UnixTime> time;
  std::optional<std::string> actor;
  std::optional<std::string> kind;
  std::string_view body;
  for (const auto& [key, value] : members) {
    if (key == "seq") seq = value.as_int();
    if (key == "time") time = parse_time(value.as_string().value_or(""));
    if (key == "actor") actor = value.as_string();
    if (key == "kind") kind = value.as_string();
    if (key == "body") body = value.text();
  }
  if (!seq) return missing("seq");
  if (!time) return missing("time");
  if (!actor) return missing("actor");
  if (!kind) return missing("kind");
  if (body.empty()) return missing("body");
  Result<EventBody> read = event_body_from_json(*kind, body);
  if (!read.is_ok()) return invalid_argument("event {}: {}", *seq, read.status().message());
  event.seq = *seq;
  event.time = *time;
  event.actor = std::move(*actor);
  event.body = std::move(read).value();
  return event;
}

}  // namespace hai
