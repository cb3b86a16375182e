#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/follow.h"
#include "cli/format.h"
#include "cli/interactive.h"
#include "cli/patience.h"
#include "cli/session.h"
#include "cli/shell_io.h"
#include "cli/slurm/commands.h"
#include "cli/slurm/console.h"
#include "cli/slurm/input_variables.h"
#include "cli/slurm/log_text.h"
#include "cli/slurm/map_container.h"
#include "cli/slurm/mpi_option.h"
#include "cli/slurm/srun_inside.h"
#include "cli/slurm/step/client.h"
#include "cli/slurm/submit.h"

namespace hai::cli::slurm {
namespace {

constexpr Command kSrun = Command::srun;

std::string variable(const char* name) { return own_variable(name).value_or(""); }

// One Ctrl-C says what goes on, two within a second stop the job, as does a hangup. The signals are
// taken by a thread of its own, since stopping is a call to the server.
class InterruptWatch {
 public:
  InterruptWatch(std::unique_ptr<Client> client, int64_t job, bool first_stops)
      : client_(std::move(client)), job_(job) {
    std::thread([this, first_stops] { watch(first_stops); }).detach();
  }
  static void block() {
    const sigset_t signals = taken();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  }

 private:
  static sigset_t taken() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    return signals;
  }

  void watch(bool first_stops) {
    const sigset_t signals = taken();
    std::optional<MonoTime> last;
    for (;;) {
      int signal = 0;
      if (sigwait(&signals, &signal) != 0) return;
      const bool is_second = last && mono_now() - *last < 1s;
      if (signal != SIGINT || first_stops || is_second) break;
      last = mono_now();
      tell(kSrun, "interrupt (one more within 1 sec to abort)");
    }
    tell(kSrun, fmt::format("stopping job {}", job_));
    v1::ControlJobRequest request;
    request.add_jobs(std::to_string(job_));
    request.set_action(v1::JOB_ACTION_STOP);
    request.set_reason("srun was interrupted");
    const Result<v1::ControlJobReply> reply = client_->control_job(request);
    if (!reply.is_ok()) complain(kSrun, reply.status().message());
    _exit(kInterrupted);
  }

  std::unique_ptr<Client> client_;
  const int64_t job_;
};

// A job of its own for the command; nullopt: it was refused and told, and `code` is to be the exit
// code.
std::optional<MappedJob> own_job(const ParsedWords& words, int& code) {
  const Result<Surroundings> here = surroundings(wall_now());
  if (!here.is_ok()) {
    code = fail(kSrun, here.status());
    return std::nullopt;
  }
  const std::string program = std::filesystem::path(words.operands[0]).filename().string();
  Result<MappedJob> mapped = map_job(words, program, here.value());
  if (!mapped.is_ok()) {
    code = usage_error(kSrun, mapped.status().message());
    return std::nullopt;
  }
  for (const std::string& line : mapped.value().warnings) tell(kSrun, line);
  mapped.value().plan.command = words.operands;
  return std::move(mapped).value();
}

// What is not found is something the job names.
int fail_submit(const Status& status) {
  const int code = fail(kSrun, status);
  return code == kNotFound ? kRefused : code;
}

// Runs the command in a job of its own and follows it to its end.
int run_outside(Session& session, const ParsedWords& words) {
  int code = kOk;
  std::optional<MappedJob> made = own_job(words, code);
  if (!made) return code;
  MappedJob& job = *made;
  const std::string output = std::exchange(job.plan.output, "");
  const bool append = job.plan.append;
  InterruptWatch::block();  // before gRPC starts its threads
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kSrun, client.status());
  const Result<int64_t> id = submit_job(kSrun, *client.value(), job, "");
  if (!id.is_ok()) return fail_submit(id.status());
  const InterruptWatch interrupts(client.value()->clone(), id.value(),
                                  words.has("quit-on-interrupt"));
  Fd file;
  if (!output.empty()) {
    const std::string path =
        expand_pattern(output, {.job = std::to_string(id.value()), .name = job.plan.name});
    file = Fd(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0666));
    if (file.get() < 0) complain(kSrun, fmt::format("{} cannot be written", path));
  }
  LogText text([&](std::string_view bytes) {
    write_all(file.get() < 0 ? STDOUT_FILENO : file.get(), bytes);
  });
  LogOptions log = {.job = std::to_string(id.value()), .attempt = 1, .follow = true};
  log.sink = [&](std::string_view bytes) { text.add(bytes); };
  const Result<v1::Job> ended = follow_job(*client.value(), log);
  if (!ended.is_ok()) return fail(kSrun, ended.status());
  const v1::Job& last = ended.value();
  if (last.state() != "succeeded") {
    complain(kSrun, fmt::format("job {} {}: {}", id.value(), last.state(), last.end_reason()));
  }
  return exit_code_of_ended(last);
}

// The same in this terminal.
int run_with_terminal(Session& session, const ParsedWords& words) {
  int code = kOk;
  std::optional<MappedJob> job = own_job(words, code);
  if (!job) return code;
  if (job->plan.tasks != 1) {
    return usage_error(kSrun, "--pty is for one task: the others would have no terminal");
  }
  const Words program = begun_in(job->plan.container_directory, words.operands);
  const Status status = make_interactive(job->spec, words.operands);
  if (!status.is_ok()) return usage_error(kSrun, status.message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kSrun, client.status());
  const Result<int64_t> id = submit_job(kSrun, *client.value(), *job, "");
  if (!id.is_ok()) return fail_submit(id.status());
  return follow_terminal(session, *client.value(), id.value(), program);
}

// The number of the rank on this node.
Result<int> rank_on(const v1::Job& job, const std::string& node) {
  for (int rank = 0; rank < job.nodes_size(); ++rank) {
    if (job.nodes(rank) == node) return rank;
  }
  return not_found("job {} has no task on {}", job.id(), node);
}

// A command in a job that runs already: beside its tasks, with all their GPUs.
int run_in_job(Session& session, const ParsedWords& words) {
  constexpr auto kTaken =
      std::to_array<std::string_view>({"jobid", "nodelist", "nodes", "ntasks", "overlap", "pty"});
  for (const GivenOption& given : words.options) {
    const std::string_view name = given.option->name;
    const bool is_one = (name != "nodes" && name != "ntasks") || given.value == "1";
    const bool is_taken = given.option->treatment != Treatment::mapped ||
                          (std::ranges::find(kTaken, name) != kTaken.end() && is_one);
    if (is_taken) continue;
    return usage_error(
        kSrun,
        option_error(given, "with --jobid one command runs beside the job's tasks").message());
  }
  for (const std::string& line : words.warnings()) tell(kSrun, line);
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kSrun, client.status());
  v1::GetJobRequest request;
  request.set_job(words.value_of("jobid"));
  const Result<v1::Job> job = client.value()->get_job(request);
  if (!job.is_ok()) return fail(kSrun, job.status());
  v1::ShellOpen open;
  open.set_job(std::to_string(job.value().id()));
  if (words.has("nodelist")) {
    const Result<int> rank = rank_on(job.value(), words.value_of("nodelist"));
    if (!rank.is_ok()) return fail(kSrun, rank.status());
    open.set_rank(rank.value());
  }
  for (const std::string& word : words.operands) open.mutable_program()->add_argv(word);
  const Result<int> code = enter_job(*client.value(), std::move(open), words.has("pty"));
  return code.is_ok() ? code.value() : fail(kSrun, code.status());
}

}  // namespace

int run_srun(Session& session, const Words& words) {
  const std::string socket = variable(kStepSocketVariable);
  if (!socket.empty()) return run_srun_inside(words, socket);
  const Result<ParsedWords> parsed = parse_with_environment(kSrun, words, false);
  if (!parsed.is_ok()) return usage_error(kSrun, parsed.status().message());
  if (is_only_asking(kSrun, parsed.value())) return kOk;
  if (asks_mpi_list(parsed.value())) return tell_mpi_list();
  const Status checked = check_srun_words(parsed.value());
  if (!checked.is_ok()) return usage_error(kSrun, checked.message());
  if (parsed.value().has("jobid")) return run_in_job(session, parsed.value());
  if (!variable("SLURM_JOB_ID").empty() || !variable("HAI_JOB_ID").empty()) {
    return fail(kSrun, failed_precondition("here srun starts nothing: it works in a script from "
                                           "sbatch, not in its tasks nor in other jobs"));
  }
  return parsed.value().has("pty") ? run_with_terminal(session, parsed.value())
                                   : run_outside(session, parsed.value());
}

}  // namespace hai::cli::slurm
