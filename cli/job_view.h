#pragma once
// Jobs for people: the table of `hai list` and the card of `hai status`.

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "common/time.h"
#include "hai/v1/types.pb.h"

namespace hai::cli {

struct JobTableOptions {
  bool wide = false;
  UnixTime now{};
};

// By a person, who may release it; not by the limit of its array.
bool is_held_by_somebody(const v1::Job& job);
// As people name it: "17_3" of a task, else the id.
std::string job_number(const v1::Job& job);
// How long its attempts have run by now; what it was suspended or waited in between does not count.
Duration time_run(const v1::Job& job, UnixTime now);
std::string job_table(const std::vector<v1::Job>& jobs, const JobTableOptions& options,
                      const Terminal& terminal);
// `services_url`: below which its services are; "" = the server has no port for them.
std::string job_card(const v1::Job& job, const std::vector<v1::Attempt>& attempts, UnixTime now,
                     const Terminal& terminal, const std::string& services_url = "");
// "0-3,6": the GPUs of a rank on its node.
std::string gpus_text(const v1::RankInfo& rank);
// The ranks of one attempt: where each runs and how far it is.
std::string ranks_table(const v1::Attempt& attempt, const Terminal& terminal);

}  // namespace hai::cli
