#pragma once
// What a year costs and how well it was handled.

#include <array>
#include <cstdint>
#include <string_view>

#include "server/model/digest.h"
#include "sim/trace/distribution.h"
#include "sim/year/machines.h"

namespace hai {

// What a node's time goes to, as the server sees it.
enum class NodeUseKind {
  used,      // by jobs of users, whatever else is true of the node
  idle,      // it could be used
  emptying,  // free, and about to be validated or mended
  validating,
  repairing,  // the site's hook runs
  service,    // waits for a person
  held,       // shares a fault with others of its leaf
  away,       // silent
};
inline constexpr std::array<std::string_view, 8> kNodeUseNames{
    "used", "idle", "emptying", "validating", "repairing", "service", "held", "away"};

struct LongJobMeasures {
  int nodes = 0;
  double effective = 0;       // work done / time since its first placement
  int64_t interruptions = 0;  // by hardware
  int64_t moves = 0;          // asked to leave by drains or by others
  Distribution back_s;        // fault → running again
  bool has_failed = false;    // it did not last
};

struct YearMeasures {
  double days = 0;
  std::array<double, kNodeUseNames.size()> shares{};  // of all GPU time, by NodeUseKind
  // GPU time of jobs that a fault of hardware took, as shares of all GPU time.
  double stalled = 0;  // from the fault until its attempt has ended
  double redone = 0;   // since the last checkpoint
  double restarting = 0;
  double redone_after_notice = 0;  // by preemptions and drains

  int64_t interruptions = 0;
  Distribution back_s;  // all jobs: fault → running again
  LongJobMeasures long_job;

  int64_t doubts = 0;        // times a node was taken out, however mildly
  int64_t drains = 0;        // of those: its jobs had to leave, or a person had to come
  int64_t wrong_drains = 0;  // nothing was the matter with the node
  int64_t wrong_nodes = 0;   // nodes to which that happened
  int64_t hooks = 0;
  int64_t wrong_hooks = 0;
  int64_t services = 0;
  int64_t wrong_services = 0;
  Distribution out_s;  // from being taken out until open again

  int64_t lemons = 0;  // there are
  int64_t lemons_found = 0;
  int64_t wrong_lemons = 0;  // called one, and is none
  Distribution lemon_days;   // until found

  int64_t validations = 0;
  int64_t validations_failed = 0;
  int64_t false_alarms = 0;          // failed on a healthy node
  int64_t misses = 0;                // passed on a broken one
  Distribution validation_age_days;  // at the end, of nodes that take jobs
  int64_t nodes_out_max = 0;         // at once, free and not usable

  int64_t node_incidents = 0;
  int64_t mass_incidents = 0;
  int64_t other_incidents = 0;
  int64_t open_incidents = 0;  // at the end

  int64_t jobs = 0;
  int64_t completed = 0;
  int64_t failed_by_themselves = 0;
  int64_t failed_wrongly = 0;  // though only hardware failed them
  int64_t preemptions = 0;
  FaultCounts faults;
  int64_t events = 0;
  uint64_t digest = kDigestStart;
};

}  // namespace hai
