#include "server/store/audit_line.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "common/json/json_text.h"

namespace hai {
namespace {

// The texts of a row and their names in a line, in the order in which they are written.
template <typename Row>
auto texts_of(Row& row) {
  return std::array{
      std::pair("user", &row.entry.user),       std::pair("token", &row.entry.token),
      std::pair("address", &row.entry.address), std::pair("call", &row.entry.call),
      std::pair("target", &row.entry.target),   std::pair("result", &row.entry.result),
      std::pair("text", &row.entry.detail),     std::pair("hash", &row.hash)};
}

Status no_entry(std::string_view why) {
  return invalid_argument("no entry of an audit log: {}", why);
}

}  // namespace

std::string audit_line(const AuditRow& row) {
  std::string line = fmt::format("{{\"seq\":{},\"at\":\"", row.seq);
  append_time(line, row.entry.at);
  line += '"';
  for (const auto& [name, text] : texts_of(row)) {
    line += fmt::format(",\"{}\":", name);
    append_json_string(line, *text);
  }
  return line + '}';
}

Result<AuditRow> audit_row_from_line(std::string_view line) {
  const Result<JsonView> json = JsonView::parse(line);
  if (!json.is_ok()) return no_entry(json.status().message());
  JsonView::Members members;
  if (!json.value().members(members)) return no_entry("expected an object");
  AuditRow row;
  std::optional<UnixTime> at;
  size_t found = 0;
  for (const auto& [key, value] : members) {
    if (key == "seq") row.seq = value.as_int().value_or(0);
    if (key == "at") at = parse_time(value.as_string().value_or(""));
    for (const auto& [name, text] : texts_of(row)) {
      if (key != name) continue;
      std::optional<std::string> read = value.as_string();
      if (!read) return no_entry(fmt::format("{} is no text", name));
      *text = std::move(*read);
      ++found;
    }
  }
  if (row.seq < 1) return no_entry("it has no seq");
  if (!at) return no_entry("it has no time");
  if (found != texts_of(row).size()) return no_entry("a member is missing");
  row.entry.at = *at;
  return row;
}

}  // namespace hai
