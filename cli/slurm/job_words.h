#pragma once
// hai's jobs in Slurm's words.

#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/format_fields.h"
#include "common/status.h"
#include "common/time.h"
#include "hai/v1/types.pb.h"

namespace hai::cli::slurm {

struct StateWord {
  std::string_view code;  // "PD"
  std::string_view name;  // "PENDING"
};
StateWord state_of(const v1::Job& job);
size_t state_order(const v1::Job& job);  // waiting jobs first
// "pd,RUNNING" -> {"PD", "R"}; "all" -> {}.
Result<std::vector<std::string>> parse_states(std::string_view text);

// The reason word of a waiting job, e.g. "Resources", "Dependency"; "None" for others.
std::string_view reason_word(const v1::Job& job);
// "(Resources)", or its nodes.
std::string nodes_or_reason(const v1::Job& job);

// The letters that squeue -o knows, and a job's value for one. `start_us`: the estimate, if asked.
const std::vector<KnownLetter>& job_letters();
// "17", "17_3" of a task, "17_[3-9]" of an array: its tasks that are no jobs yet.
std::string array_id_text(const v1::Job& job);
// "gres/gpu:4", "gres/gpu" for whole nodes, "" without GPUs.
std::string gres_text(const v1::Job& job);
std::string job_value(const v1::Job& job, char letter, UnixTime now);

}  // namespace hai::cli::slurm
