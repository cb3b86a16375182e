#pragma once
// What breaks in a year of Fire-Flyer 2 on 1,250 nodes of 8 GPUs, and what it does. The counts of
// Xids are the paper's (arXiv 2408.14158, tables VI-VIII); how many programs die by a fault and
// what mends it is not published, and stands here as an assumption.

#include <span>
#include <string_view>

#include "common/health.h"

namespace hai {

// What mends a node, mildest first. The truth, which no agent knows.
enum class Defect { none, reset, reboot, service };

struct FaultKind {
  std::string_view name;
  int xid = 0;             // 0 = no line in the kernel's log
  double per_year = 0;     // on 1,250 nodes
  double kills = 1;        // chance that the programs on the GPU, or the node, end by it
  double needs_reset = 0;  // chances of each defect; else nothing is broken
  double needs_reboot = 0;
  double needs_service = 0;
  std::string_view check;             // fails as long as the defect is there; "" = no check sees it
  HealthTier tier = HealthTier::log;  // of that check
  bool is_programs = false;           // the program's own doing
  bool is_crash = false;  // the machine falls silent, and comes back if a reboot mends it
};

inline constexpr double kNodesOfFireFlyer = 1'250;
std::span<const FaultKind> fault_kinds();

// A network flash cut is not a row of the table: it comes in bursts and mostly heals by itself.
inline constexpr double kCutsPerYear = 0.61 * 365;
inline constexpr double kCutsOfBurst = 2.13;      // 213 on 100 days
inline constexpr double kCutStays = 0.03;         // assumed, as are the next two
inline constexpr double kCutIsLong = 0.2;         // 30-60 s; the others 5-25 s
inline constexpr double kShortCutKills = 0.5;     // a longer one ends every program of a gang
inline constexpr double kLeafOutagesPerYear = 3;  // assumed

// A lemon has all faults of hardware so many times as often.
inline constexpr double kLemonFactor = 20;
inline constexpr double kLemonShare = 0.012;  // of the nodes; Meta found 1.2 % (arXiv 2410.21680)

}  // namespace hai
