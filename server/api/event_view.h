#pragma once
// An event as people see it: who, about what, and a sentence; made on the loop's thread.

#include <optional>
#include <string>

#include "server/api/sight.h"
#include "server/model/cluster_state.h"

namespace hai {

struct EventView {
  int64_t seq = 0;
  UnixTime at{};
  std::string actor;
  std::string kind;
  std::string subject;  // "job/17", "node/node-1", "user/ann", or "" for the cluster
  std::string text;
  std::string body_json;
  int64_t job = 0;
  std::string node;
  std::optional<CheckpointReported> checkpoint;  // of checkpoint_reported
};

// `owner` as EventFilter::owner_of() gives it.
EventView view_event(const ClusterState& state, const Event& event, const Sight& sight = {},
                     const std::string& owner = {});

// As who sees no more than a row of its job is told of it; null where that is all of it.
std::optional<EventBody> row_of(const EventBody& body);

}  // namespace hai
