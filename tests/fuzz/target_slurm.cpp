// Slurm's batch scripts and command lines, and the words between the parts of a step. A refusal has
// a reason; what is taken is a valid job whose plan comes back unchanged.

#include "cli/slurm/batch_script.h"
#include "cli/slurm/format_fields.h"
#include "cli/slurm/job_query.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/map_job.h"
#include "cli/slurm/slurm_time.h"
#include "cli/slurm/step/frame.h"
#include "cli/slurm/step/mpi_message.h"
#include "cli/slurm/step/output_writer.h"
#include "cli/slurm/step/step.h"
#include "common/shell_words.h"
#include "common/spec/check_job_spec.h"
#include "tests/fuzz/fuzz_target.h"

namespace hai::cli::slurm {
namespace {

void judge(const Status& status) {
  if (!status.is_ok()) fuzz::judge_reason(status.message());
}

void try_step(const ParsedWords& words) {
  const Result<StepRequest> step = step_of_options(words);
  judge(step.status());
  if (!step.is_ok()) return;
  const auto parts = plan_step(step.value(), {.tasks = 3}, {"n1", "n2", "n3"});
  judge(parts.status());
  if (!parts.is_ok()) return;
  int tasks = 0;
  for (const RankLaunch& part : parts.value()) tasks += part.launch.node_tasks;
  if (tasks != parts.value()[0].launch.tasks) fuzz::broken("tasks are lost");
}

void try_job(const ParsedWords& words) {
  const Surroundings here = {.directory = "/w",
                             .host = "h",
                             .environment = {{"A", "1"}},
                             .runner = "/r",
                             .runner_in_image = "/r/in-image/hai-slurm",
                             .now = unix_micros(1'795'161'600'000'000)};
  const Result<MappedJob> job = map_job(words, "a.sh", here);
  judge(job.status());
  if (!job.is_ok()) return;
  const Result<JobPlan> plan = parse_plan(format_plan(job.value().plan));
  if (!plan.is_ok()) fuzz::broken("its plan is refused");
  if (!check_job_spec(job.value().spec).empty()) fuzz::broken("mapped, but not valid");
  if (plan.value().tasks < job.value().spec.node_count) fuzz::broken("a node without a task");
}

void try_script(const std::string& script) {
  judge(interpreter_of(script, "a.sh").status());
  const Result<ParsedWords> options = read_script_options(script, "a.sh");
  judge(options.status());
  if (!options.is_ok()) return;
  try_job(options.value());
  try_step(options.value());
}

void try_line(const std::string& line) {
  const auto words = split_parameters(line);
  if (!words.is_ok()) return;
  for (const Command command : kCommands) {
    const Result<ParsedWords> parsed = parse_words(command, words.value());
    judge(parsed.status());
    if (!parsed.is_ok()) continue;
    if (command == Command::sbatch || command == Command::srun) {
      try_job(parsed.value());
      try_step(parsed.value());
    }
    judge(parse_format(parsed.value().value_of("format"), job_letters()).status());
  }
}

void try_words(const std::string& text) {
  judge(parse_time_limit(text).status());
  judge(parse_begin_time(text, unix_micros(0)).status());
  judge(parse_states(text).status());
  judge(parse_job_ids(text).status());
  judge(parse_format(text, job_letters()).status());
  expand_pattern(text, {.job = "7"});
}

void run(std::string_view input) {
  const size_t choice = fuzz::take_choice(input, 5);
  std::string text(input);
  switch (choice) {
    case 0:
      return try_script(text);
    case 1:
      return try_line(text);
    case 2:
      return try_words(text);
    case 3:
      return judge(take_frames(text).status());
    default:
      judge(decode_mpi(text).status());
      judge(decode_setup(text).status());
      return judge(decode_request(text).status());
  }
}

}  // namespace
}  // namespace hai::cli::slurm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hai::cli::slurm::run(hai::fuzz::text_of(data, size));
  return 0;
}
