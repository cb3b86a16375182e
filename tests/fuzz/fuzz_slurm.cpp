// Throws mutated batch scripts and command lines at the readers of Slurm's options. Whatever comes:
// no crash and no hang; a refusal has a reason of bounded length; what is taken is a valid job
// whose plan comes back unchanged.
//
// usage: fuzz_slurm [SECONDS [SEED]]

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

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
#include "tests/fuzz/mutate.h"

namespace hai::cli::slurm {
namespace {

constexpr size_t kErrorBytesMax = 2'000;

const std::vector<std::string> kScripts = {
    "#!/bin/bash\n#SBATCH --job-name=train -N 4\n#SBATCH --ntasks-per-node=8 --gres=gpu:8\n"
    "#SBATCH -t 1-12:00:00 --signal=B:USR1@120 # notice\n#SBATCH -o '%x-%j.out' -p training#A\n"
    "srun python train.py\n",
    "#!/bin/sh\n#SBATCH -n16 -c 4 --mem-per-cpu=2G -G 16 --exclusive\n#SBATCH --begin=now+2hours\n"
    "#SBATCH -d afterok:1:2,afterok:3 --qos=high --export=ALL,A=b -D sub --nice=3\n"};

const std::vector<std::string> kLines = {
    "-N2 -n5 --gpus-per-task=1 -c3 --switches=1@5:00 -t 90 --mem=1500M x.sh -N3",
    "--nodes=2-2 --gpus=h100:4 --begin=2026-11-20T08:00 --priority=30 --open-mode=append --wrap=x",
    "-h -o %.18i|%9P|%j -t PD,R -u a,b -j 1,2_3,4.0 -w n[1-4]"};

const std::vector<std::string> kPieces = {" -",
                                          " --",
                                          "=",
                                          ":",
                                          ",",
                                          "-",
                                          "#",
                                          "#SBATCH ",
                                          "\n",
                                          "'",
                                          "\"",
                                          "\\",
                                          "%",
                                          "@",
                                          "+",
                                          "0",
                                          "-1",
                                          "99999999999999999999",
                                          "2147483648",
                                          "gpu:",
                                          "afterok:",
                                          "now+",
                                          "T",
                                          "K",
                                          "ALL,",
                                          "[1-99999999]",
                                          "[",
                                          "]",
                                          "\r",
                                          "\t",
                                          "\xff",
                                          "\x1b",
                                          "infinite",
                                          "1:2:3:4",
                                          "1e9",
                                          "0x7",
                                          std::string("\0", 1),
                                          "--nodes",
                                          "-N",
                                          "--x",
                                          "%.999999999i",
                                          "%#P"};

[[noreturn]] void fail(uint64_t seed, int64_t round, const std::string& what,
                       const std::string& input) {
  fmt::print(stderr, "seed {} round {}: {}\ninput: {}\n", seed, round, what,
             nlohmann::json(input).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  std::exit(1);
}

class Fuzzer {
 public:
  explicit Fuzzer(uint64_t seed) : seed_(seed), rng_(seed) {}

  void round() {
    ++round_;
    input_ = mutate_text(rng_, pick_from(rng_, kScripts), kPieces);
    judge(interpreter_of(input_, "a.sh").status());
    const Result<ParsedWords> lines = read_script_options(input_, "a.sh");
    judge(lines.status());
    if (lines.is_ok()) map(lines.value());
    input_ = mutate_text(rng_, pick_from(rng_, kLines), kPieces);
    const auto words = split_parameters(input_);
    if (words.is_ok()) try_words(words.value());
    try_parts();
  }
  int64_t rounds() const { return round_; }

 private:
  void judge(const Status& status) {
    if (status.is_ok()) return;
    if (status.message().empty()) fail(seed_, round_, "refused without a reason", input_);
    if (status.message().size() > kErrorBytesMax) {
      fail(seed_, round_, "a very long error: " + std::string(status.message()), input_);
    }
  }

  void map(const ParsedWords& words) {
    const Surroundings here = {.directory = "/w",
                               .host = "h",
                               .environment = {{"A", "1"}},
                               .runner = "/r",
                               .runner_in_image = "/r/in-image/hai-slurm",
                               .now = unix_micros(1'795'161'600'000'000)};
    const Result<MappedJob> job = map_job(words, "a.sh", here);
    judge(job.status());
    if (job.is_ok()) {
      const Result<JobPlan> plan = parse_plan(format_plan(job.value().plan));
      if (!plan.is_ok()) fail(seed_, round_, "its plan is refused", input_);
      const bool is_text = check_job_spec(job.value().spec).empty();
      if (!is_text) fail(seed_, round_, "mapped, but not valid", input_);
      if (plan.value().tasks < job.value().spec.node_count) {
        fail(seed_, round_, "a node without a task", input_);
      }
    }
    const Result<StepRequest> step = step_of_options(words);
    judge(step.status());
    if (!step.is_ok()) return;
    const auto parts = plan_step(step.value(), {.tasks = 3}, {"n1", "n2", "n3"});
    judge(parts.status());
    if (!parts.is_ok()) return;
    int tasks = 0;
    for (const RankLaunch& part : parts.value()) tasks += part.launch.node_tasks;
    if (tasks != parts.value()[0].launch.tasks) fail(seed_, round_, "tasks are lost", input_);
  }

  void try_words(const std::vector<std::string>& words) {
    for (const Command command : kCommands) {
      const Result<ParsedWords> parsed = parse_words(command, words);
      judge(parsed.status());
      if (!parsed.is_ok()) continue;
      if (command == Command::sbatch || command == Command::srun) map(parsed.value());
      judge(parse_format(parsed.value().value_of("format"), job_letters()).status());
    }
  }

  void try_parts() {
    judge(parse_time_limit(mutate_text(rng_, "1-12:30:00", kPieces)).status());
    judge(parse_begin_time(mutate_text(rng_, "2026-11-20T08:00:00", kPieces), unix_micros(0))
              .status());
    judge(parse_states(mutate_text(rng_, "PD,RUNNING", kPieces)).status());
    judge(parse_job_ids(mutate_text(rng_, "17_3", kPieces)).status());
    judge(parse_format(mutate_text(rng_, "%.18i %P|%#j", kPieces), job_letters()).status());
    expand_pattern(mutate_text(rng_, "%x-%4j.%N", kPieces), {.job = "7"});
    std::string bytes = mutate_text(rng_, encode({FrameKind::output, 1, 2, "body"}), kPieces);
    judge(take_frames(bytes).status());
    judge(decode_request(mutate_text(rng_, encode_request({.command = {"a", "b"}}), kPieces))
              .status());
    const MpiMessage fence = {.kind = MpiKind::fence, .ranks = {0, 2}, .data = "bytes"};
    judge(decode_mpi(mutate_text(rng_, encode_mpi(fence), kPieces)).status());
    const MpiSetup setup = {.space = "s", .nodes = {"a", "b"}, .tasks_by_node = {2, 1}};
    judge(decode_setup(mutate_text(rng_, encode_setup(setup), kPieces)).status());
    judge(parse_tasks_by_node(mutate_text(rng_, "4(x2),3", kPieces)).status());
  }

  const uint64_t seed_;
  Rng rng_;
  int64_t round_ = 0;
  std::string input_;
};

int run(int seconds, uint64_t seed) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  Fuzzer fuzzer(seed);
  while (std::chrono::steady_clock::now() < end) fuzzer.round();
  fmt::print("{} scripts and command lines, seed {}: nothing found\n", fuzzer.rounds(), seed);
  return 0;
}

}  // namespace
}  // namespace hai::cli::slurm

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 10;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return hai::cli::slurm::run(seconds, seed);
}
