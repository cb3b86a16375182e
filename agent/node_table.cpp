#include "agent/node_table.h"

#include <map>
#include <vector>

#include "common/csv_table.h"
#include "common/text_check.h"

namespace hai {
namespace {

// As `name:` of agent.yaml.
bool is_agent_name(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= 255 &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace

Result<NodePlace> place_in_table(std::string_view text, const std::string& source,
                                 const std::string& node) {
  const Result<CsvTable> table =
      parse_csv_table(text, source, {.required = {"name"}, .optional = {"group", "zone", "leaf"}});
  RETURN_IF_ERROR(table.status());
  const std::vector<CsvRow>& rows = table.value().rows;
  std::map<std::string, int> lines;
  const CsvRow* own = nullptr;
  for (const CsvRow& row : rows) {
    const std::string& name = row.fields[0];
    if (!is_agent_name(name)) {
      return invalid_argument("{}:{}: name: must be 1 to 255 letters, digits and . _ -, is '{}'",
                              source, row.line, printable(name));
    }
    const auto [first, is_new] = lines.try_emplace(name, row.line);
    if (!is_new) {
      return invalid_argument("{}:{}: {} is on line {} already", source, row.line, name,
                              first->second);
    }
    if (name == node) own = &row;
  }
  if (own == nullptr) {
    return not_found("{}: has no line for {} among its {}: add one, or say --name", source, node,
                     rows.size());
  }
  return NodePlace{.group = own->fields[1], .zone = own->fields[2], .leaf = own->fields[3]};
}

}  // namespace hai
