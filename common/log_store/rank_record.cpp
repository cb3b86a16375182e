#include "common/log_store/rank_record.h"

#include "common/json/json_text.h"

namespace hai {

std::string rank_record_to_json(const RankRecord& record) {
  std::string out = "{\"user\":";
  append_json_string(out, record.user);
  out += ",\"node\":";
  append_json_string(out, record.node);
  if (record.ended_at) {
    out += ",\"ended_at\":\"";
    append_time(out, *record.ended_at);
    out += '"';
  }
  return out + "}\n";
}

Result<RankRecord> rank_record_from_json(std::string_view text) {
  const Result<JsonView> json = JsonView::parse(text);
  if (!json.is_ok()) return json.status();
  JsonView::Members members;
  if (!json.value().members(members)) return invalid_argument("is no JSON object");
  RankRecord record;
  for (const auto& [key, value] : members) {
    if (key == "user") record.user = value.as_string().value_or("");
    if (key == "node") record.node = value.as_string().value_or("");
    if (key == "ended_at") record.ended_at = parse_time(value.as_string().value_or(""));
  }
  if (record.user.empty()) return invalid_argument("names no user");
  return record;
}

}  // namespace hai
