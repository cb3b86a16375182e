#include <CLI/CLI.hpp>
#include <memory>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/follow.h"
#include "cli/log_ranks.h"
#include "cli/session.h"
#include "cli/time_option.h"

namespace hai::cli {
namespace {

struct LogsVerb {
  LogOptions log;
  std::string rank;  // a number or "all"; "" = not said
  std::string since;
  std::string grep;
  bool ignore_case = false;
};

std::optional<int> rank_of(const LogsVerb& verb) {
  if (verb.rank.empty() || verb.rank == "all") return std::nullopt;
  return std::stoi(verb.rank);
}

// Of all ranks and attempts, unless one was named; exits as grep does.
int grep(Session& session, Client& client, const LogsVerb& verb) {
  GrepOptions options{.job = verb.log.job,
                      .text = verb.grep,
                      .match_case = !verb.ignore_case,
                      .rank = rank_of(verb),
                      .since = verb.log.since};
  if (verb.log.attempt > 0) options.attempt = verb.log.attempt;
  const Result<int64_t> found = print_found_lines(client, options);
  if (!found.is_ok()) return session.fail(found.status());
  return found.value() > 0 ? kOk : kError;
}

Status print_logs(Client& client, const LogOptions& options, bool are_all_ranks) {
  if (!are_all_ranks) return print_log(client, options);
  return print_log_of_ranks(client, {.job = options.job,
                                     .attempt = options.attempt,
                                     .since = options.since,
                                     .follow = options.follow});
}

// Ends as the job does.
int follow(Session& session, Client& client, const LogOptions& options, bool are_all_ranks) {
  const auto print_attempt = [&](const std::string& job, int attempt) {
    LogOptions current = options;
    current.job = job;
    current.attempt = attempt;
    return print_logs(client, current, true);
  };
  const Result<v1::Job> job = are_all_ranks ? follow_attempts(client, options.job, 0, print_attempt)
                                            : follow_job(client, options);
  if (!job.is_ok()) return session.fail(job.status());
  say(end_text(job.value()));
  return exit_code_of_ended(job.value());
}

int logs(Session& session, LogsVerb verb) {
  if (!verb.since.empty()) {
    const Result<UnixTime> since = read_time_option("--since", verb.since, FromNow::ago);
    if (!since.is_ok()) return session.usage_error(since.status().message());
    verb.log.since = since.value();
  }
  const bool are_all_ranks = verb.rank == "all";
  if (are_all_ranks && (verb.log.tail_lines > 0 || verb.log.tail_bytes > 0)) {
    return session.usage_error("--tail is of one rank; with -r all say --since");
  }
  verb.log.rank = rank_of(verb).value_or(0);
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  if (!verb.grep.empty()) return grep(session, *client.value(), verb);
  v1::GetJobRequest request;
  request.set_job(verb.log.job);
  const Result<v1::Job> job = client.value()->get_job(request);
  if (!job.is_ok()) return session.fail(job.status());
  const bool is_array = job.value().has_array();  // the server says whose logs to ask for
  if (verb.log.follow && !is_array) {
    detach_on_interrupt(fmt::format(
        "no longer following, job {0} goes on: `hai logs -f {0}` follows it again", verb.log.job));
  }
  // One attempt was asked for: its end is the end.
  if (verb.log.follow && verb.log.attempt == 0 && !is_array) {
    return follow(session, *client.value(), verb.log, are_all_ranks);
  }
  const bool waits_for_attempt = verb.log.follow && !are_all_ranks;
  if (job.value().attempt() == 0 && !is_array && !waits_for_attempt) {
    const std::string why =
        job.value().has_pending_reason() ? ": " + job.value().pending_reason().text() : "";
    say(fmt::format("job {} has no log yet, it is {}{}", job.value().id(), job.value().state(),
                    why));
    return kOk;
  }
  const Status status = print_logs(*client.value(), verb.log, are_all_ranks && !is_array);
  return status.is_ok() ? kOk : session.fail(status);
}

std::string check_rank(const std::string& text) {
  const bool is_number = !text.empty() && text.size() <= 5 &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  return is_number || text == "all" ? "" : "a rank is a number from 0 on, or all";
}

}  // namespace

void add_logs(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("logs", "Print a job's log")->group("Jobs");
  const auto options = std::make_shared<LogsVerb>();
  LogOptions& log = options->log;
  verb->add_option("JOB", log.job, "id or name")->required();
  CLI::Option* follow_flag = verb->add_flag("-f,--follow", log.follow,
                                            "go on until the job has ended, through suspensions");
  verb->add_option("-r,--rank", options->rank,
                   "of this rank, 0 by default; all: of each, in the order of their times, with "
                   "the rank in front")
      ->type_name("RANK")
      ->check(check_rank, "");
  verb->add_option("--attempt", log.attempt, "of this attempt, the latest by default")
      ->check(CLI::Range(1, 1'000'000'000));
  CLI::Option* lines = verb->add_option("--tail", log.tail_lines, "only so many last lines")
                           ->type_name("LINES")
                           ->check(CLI::Range(1, 1'000'000));
  CLI::Option* bytes =
      verb->add_option("--tail-bytes", log.tail_bytes, "only about so many last bytes")
          ->type_name("BYTES")
          ->check(CLI::Range(1, 1'000'000'000))
          ->excludes(lines);
  verb->add_option("--since", options->since, "from this time on, or so long ago: 10m")
      ->excludes(lines)
      ->excludes(bytes);
  CLI::Option* grep_option =
      verb->add_option("--grep", options->grep,
                       "only lines that hold this text, of all ranks and attempts unless one is "
                       "named, newest attempt first: ATTEMPT.RANK: LINE")
          ->type_name("TEXT")
          ->excludes(lines)
          ->excludes(bytes)
          ->excludes(follow_flag);
  verb->add_flag("-i,--ignore-case", options->ignore_case, "with --grep: a to z as A to Z")
      ->needs(grep_option);
  session.help[verb] = {
      .details =
          "--grep is done by the server and ends with 1 if no line was found. The lines of "
          "-r all are as much in order as the clocks of their nodes are.",
      .examples = {{"hai logs train --tail 20", "the end of rank 0"},
                   {"hai logs -f train -r 1", "rank 1, until the job has ended"},
                   {"hai logs train -r all --since 10m", "what all ranks wrote lately"},
                   {"hai logs train --grep 'NCCL WARN'", "where it stands, in all ranks"},
                   {"hai logs train --attempt 1", "what an earlier attempt wrote"}},
      .exit_codes = "With -f the job's own code, as hai wait; with --grep 1 if no line was found."};
  verb->callback([&session, options] { session.exit_code = logs(session, *options); });
}

}  // namespace hai::cli
