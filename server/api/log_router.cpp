#include "server/api/log_router.h"

#include <vector>

namespace hai {

LogRouter::~LogRouter() {
  for (const auto& [id, pending] : pending_) loop_.cancel(pending.timer);
}

void LogRouter::read(const std::string& node, const LogRequest& request, Done done) {
  const int64_t id = ++last_id_;
  Pending& pending = pending_[id];
  pending = {.node = node, .done = std::move(done)};
  if (pending_.size() > kPendingMax) {
    pending.timer = loop_.call_after(Duration(0), [this, id] {
      finish(id, resource_exhausted("{} log requests are under way already; try again later",
                                    kPendingMax));
    });
    return;
  }
  pending.connection = port_.send_log_request(node, id, request);
  if (!pending.connection) {
    pending.timer = loop_.call_after(Duration(0), [this, id, node] {
      finish(id,
             unavailable("node {} is not connected; its logs can be read when it is back", node));
    });
    return;
  }
  pending.timer = loop_.call_after(request.wait + kAnswerTimeout, [this, id, node] {
    finish(id, deadline_exceeded("node {} did not answer the log request", node));
  });
}

void LogRouter::answered(ConnectionId connection, int64_t request_id, const LogChunk& chunk) {
  auto found = pending_.find(request_id);
  // An agent may answer only what it was asked itself.
  if (found == pending_.end() || found->second.connection != connection) return;
  if (!chunk.error.empty()) {
    finish(request_id, not_found("node {}: {}", found->second.node, chunk.error));
  } else {
    bytes_ += static_cast<int64_t>(chunk.data.size());
    finish(request_id, chunk);
  }
}

void LogRouter::disconnected(ConnectionId connection) {
  std::vector<int64_t> ids;
  for (const auto& [id, pending] : pending_) {
    if (pending.connection == connection) ids.push_back(id);
  }
  for (int64_t id : ids) {
    auto found = pending_.find(id);
    if (found == pending_.end()) continue;
    finish(id, unavailable("node {} lost its connection; try again", found->second.node));
  }
}

void LogRouter::finish(int64_t id, Result<LogChunk> result) {
  auto found = pending_.find(id);
  if (found == pending_.end()) return;
  Pending pending = std::move(found->second);
  pending_.erase(found);
  loop_.cancel(pending.timer);
  pending.done(std::move(result));
}

}  // namespace hai
