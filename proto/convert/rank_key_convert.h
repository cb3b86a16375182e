#pragma once
// RankKey ↔ protobuf, shared by reports, orders and log requests.

#include "common/id.h"
#include "common/status.h"
#include "hai/v1/agent.pb.h"

namespace hai {

void to_proto(const RankKey& key, v1::RankKey& out);
Status from_proto(const v1::RankKey& message, RankKey& out);

}  // namespace hai
