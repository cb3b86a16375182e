#pragma once
// One agent as decide_report sees it: a session, and reports about ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/control/nodes/decide_report.h"
#include "tests/support/builders.h"

namespace hai::test {

inline RankStatus starting(RankKey key) { return {.key = key}; }
inline RankStatus running(RankKey key) { return {.key = key, .phase = RankPhase::running}; }
inline RankStatus exited(RankKey key, ExitCause cause, int exit_code = 0) {
  return {.key = key, .phase = RankPhase::exited, .cause = cause, .exit_code = exit_code};
}
inline RankStatus notified(RankStatus status) { return status.suspend_notified = true, status; }

class FakeAgent {
 public:
  FakeAgent(Cluster& cluster, const std::string& node) : cluster_(cluster) {
    session.connection = ConnectionId{1};
    session.node_name = node;
    session.node = cluster.node_id(node);
  }

  // Its report with these ranks; the events it caused, in short.
  std::vector<std::string> report(std::vector<RankStatus> ranks) {
    size_t before = cluster_.events().size();
    AgentReport report{.node = session.node_name, .ranks = std::move(ranks)};
    cluster_.decide_with([&](Decision& decision) { decide_report(decision, session, report); });
    std::vector<std::string> kinds;
    for (size_t i = before; i < cluster_.events().size(); ++i) {
      kinds.emplace_back(kind_of(cluster_.events()[i].body));
    }
    return kinds;
  }

  Session session;

 private:
  Cluster& cluster_;
};

}  // namespace hai::test
