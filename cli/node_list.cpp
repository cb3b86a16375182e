#include "cli/node_list.h"

#include <iterator>

#include "cli/client.h"

namespace hai::cli {

Result<std::vector<v1::Node>> all_nodes(Client& client, v1::ListNodesRequest request) {
  std::vector<v1::Node> nodes;
  for (;;) {
    Result<v1::ListNodesReply> page = client.list_nodes(request);
    RETURN_IF_ERROR(page.status());
    auto& found = *page.value().mutable_nodes();
    std::move(found.begin(), found.end(), std::back_inserter(nodes));
    if (page.value().next_cursor().empty()) return nodes;
    request.set_cursor(page.value().next_cursor());
  }
}

}  // namespace hai::cli
