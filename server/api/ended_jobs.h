#pragma once
// What became of jobs that a submit depends on and that have left memory. Asked for before the
// submit is decided, beside the loop, so that the decision itself asks nobody.

#include <memory>
#include <string>
#include <vector>

#include "server/api/sights.h"
#include "server/api/source.h"
#include "server/control/engine/controller.h"
#include "server/control/history_port.h"

namespace hai {

class EndedJobs {
 public:
  // `history` may be null: then nothing is found.
  EndedJobs(Controller& controller, History* history, Sights sights)
      : controller_(controller), history_(history), sights_(std::move(sights)) {}

  // Those of `specs` that are not in memory and that the caller sees; the rest is for the decision
  // to refuse. At once where all are in memory, as mostly. resource_exhausted if there are too
  // many, `unavailable` if the history does not answer.
  void find(const Caller& caller, const std::vector<JobSpec>& specs,
            Done<std::vector<EndedJob>> done) const;

 private:
  struct Search;
  void go_on(const std::shared_ptr<Search>& search) const;

  Controller& controller_;
  History* const history_;
  const Sights sights_;
};

}  // namespace hai
