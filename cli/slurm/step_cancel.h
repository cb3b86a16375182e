#pragma once
// scancel 17.0: one step of a job instead of the job.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/parse_options.h"
#include "common/status.h"

namespace hai::cli::slurm {

struct StepName {
  std::string job;  // "17", or "17_3"
  uint32_t number = 0;
  bool operator==(const StepName&) const = default;
};

// "17.0" and "17_3.0". An error for "17.batch", too, which is the job itself.
Result<StepName> parse_step_name(std::string_view text);
std::string to_string(const StepName& step);

struct CancelOrder {
  std::vector<StepName> steps;
  int signal = 0;  // only send this one; 0 = end them
};

// An error if words name both steps and jobs, or choose jobs in another way: who means both can say
// so twice. No steps if none is named.
Result<CancelOrder> cancel_order(const ParsedWords& words);

// Whether it is a step of the job of this process.
bool is_own_step(const StepName& step);
// By the socket of the job's first rank, where it listens for that. What went wrong is complained
// of; false if anything did.
bool cancel_own_step(const StepName& step, int signal);
void complain_of_step(const StepName& step, const Status& status);

// scancel in a container image, where there is no server. Gives the exit code.
int run_scancel_in_image(const std::vector<std::string>& words);

}  // namespace hai::cli::slurm
