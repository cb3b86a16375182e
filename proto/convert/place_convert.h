#pragma once
// RankPlace ↔ protobuf.

#include "common/agent_messages.h"
#include "hai/v1/agent.pb.h"

namespace hai {

void to_proto(const RankPlace& place, v1::RankPlace& out);
Status from_proto(const v1::RankPlace& message, RankPlace& out);

}  // namespace hai
