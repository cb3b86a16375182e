#pragma once
// What is known of a node's health beyond this moment: checks that fail, what was done about them,
// what stands against it in the last 28 days, and how far its repair has come.

#include <string>
#include <string_view>
#include <vector>

#include "common/health.h"
#include "common/id.h"
#include "common/time.h"
#include "server/model/incident.h"

namespace hai {

// A check that is not well, and what was done about it.
struct NodeCheck {
  CheckResult result;
  UnixTime since{};  // by the server's clock
  std::string done;  // "" = nothing yet; else what, as a word: validate, drain, evict, hold, noted,
                     // mended (by our word), accepted (by a person)
  bool operator==(const NodeCheck&) const = default;

  bool is_settled() const { return done == "mended" || done == "accepted"; }

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("result", self.result);
    visit("since", self.since);
    visit("done", self.done);
  }
};

// Something that speaks against a node; what each kind weighs is server/model/lemon_score.h's.
struct NodeMark {
  UnixTime at{};
  std::string kind;
  JobId job;  // whose attempt it cost; none for most
  bool operator==(const NodeMark&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("at", self.at);
    visit("kind", self.kind);
    visit("job", self.job);
  }
};

// none → emptying → validating → none, or from validating → repairing → validating → … → service
enum class RepairStep {
  none,
  emptying,    // takes no jobs; those it has finish (validate) or leave (drain)
  validating,  // a validation runs on it, or will
  repairing,   // the site's hook runs
  bisecting,   // tested in groups, to find which of several nodes is bad
  service,     // a person has to look at it
};
std::string_view to_string(RepairStep step);

struct NodeRepair {
  RepairStep step = RepairStep::none;
  UnixTime since{};
  int round = 0;  // hooks that were tried
  JobId job;      // the validation
  int64_t hook = 0;
  std::string action;     // of the hook
  std::string boot_id;    // when the hook was ordered: a reboot shows by it
  bool is_lemon = false;  // goes to service whatever a validation says
  bool may_heal = false;  // is in service for a fault; when that is gone it is validated again
  std::string reason;
  IncidentId incident;
  bool operator==(const NodeRepair&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("step", self.step);
    visit("since", self.since);
    visit("round", self.round);
    visit("job", self.job);
    visit("hook", self.hook);
    visit("action", self.action);
    visit("boot_id", self.boot_id);
    visit("is_lemon", self.is_lemon);
    visit("may_heal", self.may_heal);
    visit("reason", self.reason);
    visit("incident", self.incident);
  }
};

// What a validation measured last, by test and metric.
struct NodeMeasure {
  std::string name;  // "memory_bandwidth triad"
  std::string unit;
  double value = 0;
  bool higher_is_better = true;
  bool operator==(const NodeMeasure&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name);
    visit("unit", self.unit);
    visit("value", self.value);
    visit("higher_is_better", self.higher_is_better);
  }
};

struct NodeHealth {
  std::vector<NodeCheck> checks;  // warn and fail, sorted by name and subject
  std::vector<NodeMark> marks;    // oldest first, bounded
  NodeRepair repair;
  UnixTime validated_at{};  // the last validation that was passed, or its registration
  UnixTime judged_at{};     // the last validation that came to an end; 1970 = none did
  bool is_passed = false;   // that one
  std::string judgement;
  std::vector<NodeMeasure> measured;
  bool operator==(const NodeHealth&) const = default;

  const NodeCheck* find(std::string_view name, std::string_view subject) const;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("checks", self.checks);
    visit("marks", self.marks);
    visit("repair", self.repair);
    visit("validated_at", self.validated_at);
    visit("judged_at", self.judged_at);
    visit("is_passed", self.is_passed);
    visit("judgement", self.judgement);
    visit("measured", self.measured);
  }

  static constexpr size_t kMarksMax = 200;
  static constexpr size_t kChecksMax = 256;
};

}  // namespace hai
