#pragma once
// RankStatus as one line of JSON: status.json, and what a shim pushes to the agent. Fields may be
// added, never renamed: a new agent reads what an old shim wrote.

#include <optional>
#include <string>
#include <string_view>

#include "common/agent_messages.h"
#include "common/status.h"

namespace hai {

// A status line holds at most a whole_life_state of 64 KiB, every byte of which may be written as
// six.
inline constexpr size_t kStatusLineBytesMax = 512 << 10;

std::string status_to_json(const RankStatus& status);
Result<RankStatus> status_from_json(std::string_view text);

// What a shim pushes to the agent: {"status":{…}}. Other lines, answers to requests, are nullopt;
// what is none is an error.
std::string make_status_line(const RankStatus& status);
Result<std::optional<RankStatus>> parse_status_line(std::string_view line);

}  // namespace hai
