#pragma once
// A cluster whose agents report checks: decide_report and decide_tick, second by second.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "server/control/engine/decide_tick.h"
#include "server/control/nodes/decide_report.h"
#include "tests/support/builders.h"
#include "tests/unit/control/agent_reports.h"

namespace hai::test {

inline CheckResult failing(std::string name, HealthTier tier, std::string subject = "",
                           GpuSet gpus = {}) {
  return {.name = std::move(name),
          .subject = std::move(subject),
          .verdict = CheckVerdict::fail,
          .tier = tier,
          .summary = "broken",
          .gpus = gpus,
          .at = unix_micros(900'000'000'000'000)};
}
inline CheckResult again(CheckResult check) { return check.at += 1min, check; }

class HealthWorld {
 public:
  explicit HealthWorld(Cluster cluster) : c(std::move(cluster)) {
    sessions.set_term_start(mono);
    int64_t connection = 0;
    for (const auto& [id, node] : c.state().nodes()) {
      const ConnectionId number{++connection};
      sessions.open(number, node.facts.name);
      Session& session = *sessions.find(number);
      sessions.bind(session, id);
      session.has_reported = true;
      sessions.set_contact(id, mono);
    }
  }

  const Node& node(const std::string& name) { return c.node(name); }
  const NodeRepair& repair(const std::string& name) { return c.node(name).health.repair; }
  Session& session(const std::string& name) { return *sessions.find(c.node_id(name)); }

  // The node's report: its ranks as they are, with these checks from now on.
  void report(const std::string& name, std::vector<CheckResult> checks,
              std::vector<RankStatus> ranks = {}) {
    AgentReport report{.node = name};
    report.checks = std::move(checks);
    send(name, std::move(report), std::move(ranks));
  }
  // As the kernel said it just now, of programs that have run for a while.
  CheckResult said_now(CheckResult check) {
    c.advance(10s);
    return check.at = c.now, check;
  }
  void hook_ends(const std::string& name, int exit_code, const std::string& message = "") {
    AgentReport report{.node = name};
    report.hook = HookResult{repair(name).hook, exit_code, message};
    send(name, std::move(report), {});
  }
  void reboots(const std::string& name, const std::string& boot_id) {
    NodeFacts facts = node(name).facts;
    facts.boot_id = boot_id;
    c.emit(NodeRegistered{c.node_id(name), facts});
  }
  // The validation that runs on the node ends like this.
  void validation_ends(const std::string& name, int exit_code,
                       std::vector<Measurement> measurements = {
                           {.test = "cpu", .verdict = CheckVerdict::ok}}) {
    ASSERT_FALSE(node(name).occupants.empty()) << "no validation runs";
    const Occupant occupant = node(name).occupants[0];
    const Attempt& attempt = c.attempt(occupant.job);
    RankStatus status =
        exited({occupant.job, attempt.number, occupant.rank}, ExitCause::program, exit_code);
    status.measurements = std::move(measurements);
    report(name, session(name).checks, {status});
  }

  void advance(Duration time) {
    for (Duration passed{0}; passed < time; passed += 1s) {
      c.advance(1s);
      mono += 1s;
      for (const auto& [id, node] : c.state().nodes()) sessions.set_contact(id, mono);
      c.decide_with([&](Decision& decision) { decide_tick(decision, sessions, mono, true); });
    }
  }

  // Kinds of the node's marks.
  std::vector<std::string> marks(const std::string& name) {
    std::vector<std::string> kinds;
    for (const NodeMark& mark : node(name).health.marks) kinds.push_back(mark.text());
    return kinds;
  }
  std::vector<std::string> incidents(std::string_view kind) {
    std::vector<std::string> subjects;
    for (const auto& [id, incident] : c.state().incidents()) {
      if (incident.kind == kind) subjects.push_back(incident.subject);
    }
    return subjects;
  }

  Cluster c;
  Sessions sessions;
  MonoTime mono{1000s};

 private:
  void send(const std::string& name, AgentReport report, std::vector<RankStatus> ranks) {
    for (const Occupant& occupant : node(name).occupants) {
      const Attempt& attempt = c.attempt(occupant.job);
      const RankKey key{occupant.job, attempt.number, occupant.rank};
      const bool is_given =
          std::ranges::any_of(ranks, [&](const RankStatus& status) { return status.key == key; });
      if (!is_given && !attempt.end) ranks.push_back(running(key));
    }
    report.ranks = std::move(ranks);
    c.decide_with([&](Decision& decision) { decide_report(decision, session(name), report); });
  }
};

}  // namespace hai::test
