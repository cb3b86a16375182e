#pragma once
// All nodes that a request asks for, over all its pages.

#include <vector>

#include "common/status.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

class Client;

Result<std::vector<v1::Node>> all_nodes(Client& client, v1::ListNodesRequest request = {});

}  // namespace hai::cli
