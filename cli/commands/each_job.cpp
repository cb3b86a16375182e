#include "cli/commands/each_job.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

// What is wrong with a state of jobs that are to be stopped, suspended and the like; "" = nothing.
std::string wrong_state_text(const std::string& state) {
  if (state != "succeeded" && state != "failed" && state != "stopped") return "";
  return fmt::format(
      "{0} jobs have ended, this is for queued, running or suspended ones; hai rerun --state {0} "
      "runs such jobs again",
      state);
}

}  // namespace

void add_job_filters(CLI::App& verb, JobSelection& which) {
  const bool ended = which.among == JobSelection::Among::ended;
  const std::string whose = ended ? "your jobs that ended " : "your unfinished jobs ";
  CLI::Option* state = verb.add_option("--state,-s", which.states, whose + "in these states");
  state->delimiter(',')->allow_extra_args(false);
  if (ended) {
    state->check(CLI::IsMember({"succeeded", "failed", "stopped"}));
  } else {
    state->check(wrong_state_text, "")->check(CLI::IsMember({"queued", "running", "suspended"}));
  }
  verb.add_option("--tag", which.tags, whose + "with this tag")->allow_extra_args(false);
  verb.add_option("-g,--group", which.group, whose + "for this node group");
  verb.add_option("--array", which.array_word, "tasks of this array")->type_name("ARRAY");
  verb.add_option("-u,--user", which.user, "of this user's jobs, not yours; for operators");
}

void add_job_selection(CLI::App& verb, JobSelection& which) {
  verb.add_option("JOB", which.words, kJobOperandText);
  add_job_filters(verb, which);
}

Status check_selection(const std::string& verb, const JobSelection& which) {
  if (!which.words.empty() || which.has_filters()) return ok();
  return invalid_argument("hai {} needs JOB, or --state, --tag, --group or --array", verb);
}

int change_each_job(Session& session, const std::string& verb, const JobSelection& which,
                    OutputFormat output, const ChangeJob& change, Turn turn) {
  if (const Status status = check_selection(verb, which); !status.is_ok()) {
    return session.usage_error(status.message());
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<std::vector<std::string>> found = find_selected(*client.value(), which);
  if (!found.is_ok()) return session.fail(found.status());
  std::vector<std::string> jobs = found.value();
  if (turn == Turn::newest_first) std::reverse(jobs.begin(), jobs.end());
  int exit_code = kOk;
  std::vector<Json> items;
  for (const std::string& job : jobs) {
    const Result<JobChange> changed = change(*client.value(), job);
    if (!changed.is_ok()) {
      const int code = session.fail(changed.status());
      if (exit_code == kOk) exit_code = code;
    } else if (is_json(output)) {
      items.push_back(to_json(changed.value().job));
    } else {
      print(changed.value().line + "\n");
    }
  }
  if (!is_json(output)) return exit_code;
  const bool is_one = jobs.size() == 1 && jobs == which.words;
  if (!is_one) print(format_json_list(items, output));
  if (is_one && !items.empty()) print(format_json(items[0], output));
  return exit_code;
}

}  // namespace hai::cli
