#pragma once
// Faults on command: one line of words in, one line out. What is not understood changes nothing.
//
//   kill NODES                the nodes die with all ranks, as by a power cut
//   silence NODES             they live, but their network carries nothing
//   slow-launch NODES TIME    each launch takes so long
//   fail-launch NODES [WHY]   no launch succeeds
//   fault NODES CHECK TIER [TEXT]   a health check fails, as a real agent would report it
//   mend NODES                their checks are as they should be
//   restore NODES             they live, are heard, healthy and launch as they should
//   status                    how many are what
//   help
//
// NODES as in Fleet::select. Loop thread only.

#include <string>
#include <string_view>

#include "agent/fleet/fleet.h"

namespace hai {

class FleetControl {
 public:
  FleetControl(Loop& loop, Fleet& fleet) : loop_(loop), fleet_(fleet) {}

  // "ok ..." or "error ...", without a newline.
  std::string execute(std::string_view line);

 private:
  Result<std::string> run(const std::vector<std::string>& words);
  std::string status() const;

  Loop& loop_;
  Fleet& fleet_;
};

}  // namespace hai
