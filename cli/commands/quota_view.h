#pragma once
// Quotas for people, and in words.

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "common/status.h"
#include "hai/v1/types.pb.h"

namespace hai::cli {

std::string quota_table(const std::vector<v1::Quota>& quotas, const Terminal& terminal);
// "unlimited" or a number of nodes; -1 = unlimited.
Result<int> parse_quota_nodes(const std::string& text);
// Refuses a word that is neither a priority nor "*".
Status check_quota_priority(const std::string& text);

}  // namespace hai::cli
