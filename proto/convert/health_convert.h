#pragma once
// Results of health checks and what else a report says of a node's health, for
// agent_report_convert.

#include "common/agent_messages.h"
#include "hai/v1/agent.pb.h"

namespace hai {

void to_proto(const std::vector<CheckResult>& checks, v1::CheckResults& out);
// Sorted by name and subject; of two for the same pair the first counts.
Status from_proto(const v1::CheckResults& message, std::vector<CheckResult>& out);

void to_proto(const std::vector<GpuReading>& readings, v1::GpuReadings& out);
Status from_proto(const v1::GpuReadings& message, std::vector<GpuReading>& out);
void to_proto(const HookResult& result, v1::HookResult& out);
Status from_proto(const v1::HookResult& message, HookResult& out);

void to_proto(const std::vector<RankSign>& signs, v1::RankStatus& out);
void to_proto(const std::vector<Measurement>& measurements, v1::RankStatus& out);
// Both lists of a rank.
Status health_from_proto(const v1::RankStatus& message, RankStatus& out);

}  // namespace hai
