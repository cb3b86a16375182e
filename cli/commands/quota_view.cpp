#include "cli/commands/quota_view.h"

#include "cli/table.h"
#include "common/job_spec.h"
#include "common/whole_number.h"

namespace hai::cli {

std::string quota_table(const std::vector<v1::Quota>& quotas, const Terminal& terminal) {
  Table table({{"OWNER"}, {"GROUP"}, {"PRIORITY"}, {"NODES", true}, {"USED", true}});
  for (const v1::Quota& quota : quotas) {
    table.add_row({quota.owner(), quota.group(), quota.priority(),
                   quota.nodes() < 0 ? "unlimited" : std::to_string(quota.nodes()),
                   std::to_string(quota.nodes_used())});
  }
  return table.render(terminal);
}

Result<int> parse_quota_nodes(const std::string& text) {
  if (text == "unlimited") return -1;
  const std::optional<int> nodes = whole_number<int>(text);
  if (!nodes || *nodes < 0) {
    return invalid_argument("'{}' is no number of nodes: write 0, 1, 2 ... or unlimited", text);
  }
  return *nodes;
}

Status check_quota_priority(const std::string& text) {
  return text == "*" ? ok() : parse_priority(text).status();
}

}  // namespace hai::cli
