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

// What was done about a check that is not well.
enum class FaultAnswer {
  none,      // nothing yet
  noted,     // nothing is to be done
  validate,  // the node takes no new jobs, and is validated when it is free
  drain,     // its jobs leave
  evict,     // those that use what is broken were ended
  hold,      // one of many: what they share is suspected
  mended,    // a repair says so; it does not count any more
  accepted,  // a person says so, likewise
};
std::string_view to_string(FaultAnswer answer);  // "" of none

struct NodeCheck {
  CheckResult result;
  UnixTime since{};  // by the server's clock
  FaultAnswer done = FaultAnswer::none;
  bool operator==(const NodeCheck&) const = default;

  bool is_settled() const { return done == FaultAnswer::mended || done == FaultAnswer::accepted; }

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("result", self.result);
    visit("since", self.since);
    visit("done", self.done);
  }
};

// What can speak against a node; what each weighs is server/model/lemon_score.h's.
enum class MarkKind {
  evict,              // a fault that ended what ran there
  drain,              // … that emptied it
  validate,           // … worth a validation
  flash_cut,          // a port was down, and healed
  gang_failed,        // it cost a job of several nodes an attempt
  job_failed,         // … of one node
  validation_failed,  // a test of its own, or with others
  app_fault,          // a program's fault, as Xids 13 and 31
  accepted,           // by a person: what came before is forgotten
  launch_failed,      // a job could not start there, and did elsewhere
};
std::string_view to_string(MarkKind kind);

struct NodeMark {
  UnixTime at{};
  MarkKind kind = MarkKind::accepted;
  std::string about;  // the check, or how the job failed
  JobId job;          // whose attempt it cost; none for most
  std::string user;   // whose job that was; "" for none, and in marks that older versions made
  bool operator==(const NodeMark&) const = default;

  std::string text() const;  // "evict gpu_xid"

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("at", self.at);
    visit("kind", self.kind);
    visit("about", self.about);
    visit("job", self.job);
    visit("user", self.user);
  }
};

// Mostly none → emptying → validating → none, or from validating → repairing → validating → … →
// service; may_follow() has all that is possible.
enum class RepairStep {
  none,
  emptying,    // takes no jobs; those it has finish (validate) or leave (drain)
  validating,  // a validation runs on it, or will
  repairing,   // the site's hook runs
  bisecting,   // tested in groups, to find which of several nodes is bad
  service,     // a person has to look at it
};
std::string_view to_string(RepairStep step);
bool may_follow(RepairStep from, RepairStep to);  // a step may follow itself

// What the site's hook is asked to do.
enum class RepairAction { none, reset_gpus, reboot };
std::string_view to_string(RepairAction action);  // "" of none

struct NodeRepair {
  RepairStep step = RepairStep::none;
  UnixTime since{};
  int round = 0;  // hooks that were tried
  JobId job;      // the validation
  int64_t hook = 0;
  RepairAction action = RepairAction::none;
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
