#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/job_names.h"
#include "cli/job_view.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/unknown_filter.h"
#include "cli/watch.h"

namespace hai::cli {
namespace {

constexpr int kJobPageSize = 1000;
constexpr size_t kJobsMax = 20'000;  // without -p, nobody reads more
constexpr int kRecentlyFinishedMax = 100;
constexpr Duration kRecently = 24h;

struct ListOptions {
  std::vector<std::string> states;
  std::string user;
  std::string group;
  std::vector<std::string> tags;
  bool all_users = false;
  bool all_finished = false;
  bool tasks = false;
  std::string array;     // its id or name
  int64_t array_id = 0;  // of that
  int page = 0;
  int page_size = 12;
  bool watch = false;
  OutputFormat output = OutputFormat::table;
};

v1::ListJobsRequest request_of(const ListOptions& options) {
  v1::ListJobsRequest request;
  request.mutable_states()->Assign(options.states.begin(), options.states.end());
  request.set_user(options.user);
  request.set_group(options.group);
  request.mutable_tags()->Assign(options.tags.begin(), options.tags.end());
  request.set_all_users(options.all_users && options.user.empty());
  request.set_tasks(options.tasks);
  request.set_array(options.array_id);
  request.set_page_size(kJobPageSize);
  return request;
}

Status append_all(Client& client, v1::ListJobsRequest request, std::vector<v1::Job>& jobs) {
  for (;;) {
    const Result<v1::ListJobsReply> page = client.list_jobs(request);
    RETURN_IF_ERROR(page.status());
    jobs.insert(jobs.end(), page.value().jobs().begin(), page.value().jobs().end());
    if (page.value().next_cursor().empty()) return ok();
    if (jobs.size() >= kJobsMax) {
      say(fmt::format("more than {} jobs: only the newest are shown; narrow it with --state",
                      kJobsMax));
      return ok();
    }
    request.set_cursor(page.value().next_cursor());
  }
}

// HAI's pages: everything, newest first, page 1 being the newest.
Status append_page(Client& client, const ListOptions& options, std::vector<v1::Job>& jobs) {
  v1::ListJobsRequest request = request_of(options);
  request.set_include_finished(true);
  request.set_page_size(options.page_size);
  for (int page = 1;; ++page) {
    const Result<v1::ListJobsReply> reply = client.list_jobs(request);
    RETURN_IF_ERROR(reply.status());
    if (page == options.page) {
      jobs.assign(reply.value().jobs().begin(), reply.value().jobs().end());
      return ok();
    }
    if (reply.value().next_cursor().empty()) return ok();
    request.set_cursor(reply.value().next_cursor());
  }
}

// The unfinished ones and those that ended within a day.
Status append_default(Client& client, const ListOptions& options, std::vector<v1::Job>& jobs) {
  v1::ListJobsRequest request = request_of(options);
  RETURN_IF_ERROR(append_all(client, request, jobs));
  request.set_page_size(kRecentlyFinishedMax);
  for (const char* state : {"succeeded", "failed", "stopped"}) request.add_states(state);
  request.set_include_finished(true);
  const Result<v1::ListJobsReply> finished = client.list_jobs(request);
  RETURN_IF_ERROR(finished.status());
  const UnixTime oldest = wall_now() - kRecently;
  const auto& ended = finished.value().jobs();
  if (!finished.value().next_cursor().empty() && !ended.empty() && !options.watch &&
      unix_micros(ended.rbegin()->ended_at_us()) >= oldest) {
    say(fmt::format(
        "only the newest {} of the jobs that ended within a day are shown; --finished shows all",
        kRecentlyFinishedMax));
  }
  for (const v1::Job& job : finished.value().jobs()) {
    if (job.has_ended_at_us() && unix_micros(job.ended_at_us()) >= oldest) jobs.push_back(job);
  }
  std::sort(jobs.begin(), jobs.end(),
            [](const v1::Job& a, const v1::Job& b) { return a.id() > b.id(); });
  // A job that ended between the two calls is in both lists: the later answer is right.
  const auto same = [](const v1::Job& a, const v1::Job& b) { return a.id() == b.id(); };
  jobs.erase(std::unique(jobs.begin(), jobs.end(), same), jobs.end());
  return ok();
}

Result<std::string> render(const Session& session, Client& client, const ListOptions& options) {
  std::vector<v1::Job> jobs;
  Status status;
  if (options.page > 0) {
    status = append_page(client, options, jobs);
  } else if (!options.states.empty() || options.all_finished) {
    v1::ListJobsRequest request = request_of(options);
    request.set_include_finished(true);
    status = append_all(client, request, jobs);
  } else {
    status = append_default(client, options, jobs);
  }
  RETURN_IF_ERROR(status);
  if (jobs.empty() && !options.watch) {
    for (const std::string& line : unknown_names(client, {options.user}, {options.group}))
      say(line);
  }
  if (is_json(options.output)) {
    std::vector<Json> items;
    for (const v1::Job& job : jobs) items.push_back(to_json(job));
    return format_json_list(items, options.output);
  }
  return job_table(jobs, {.wide = options.output == OutputFormat::wide, .now = wall_now()},
                   session.terminal);
}

int list(Session& session, ListOptions options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  if (!options.array.empty()) {
    const Result<int64_t> array = find_array(*client.value(), options.array);
    if (!array.is_ok()) return session.fail(array.status());
    options.array_id = array.value();
  }
  const auto show = [&] { return render(session, *client.value(), options); };
  if (options.watch) return session.fail(watch(session, *client.value(), {}, show));
  const Result<std::string> text = show();
  if (!text.is_ok()) return session.fail(text.status());
  print(text.value());
  return kOk;
}

}  // namespace

void add_list(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("list", "List your unfinished and recently finished jobs")->group("Jobs");
  const auto options = std::make_shared<ListOptions>();
  verb->add_option("--state,-s", options->states, "only these states, e.g. running,queued")
      ->delimiter(',')
      ->check(CLI::IsMember({"queued", "running", "suspended", "succeeded", "failed", "stopped"}));
  verb->add_flag("-a,--all", options->all_users, "jobs of all users");
  verb->add_option("-u,--user", options->user, "jobs of this user");
  verb->add_option("-g,--group", options->group, "jobs for this node group");
  verb->add_option("--tag", options->tags, "jobs with this tag")->allow_extra_args(false);
  verb->add_flag("--finished", options->all_finished, "all finished jobs too, however old");
  verb->add_flag("--tasks", options->tasks, "tasks of arrays, too, a line each");
  verb->add_option("--array", options->array, "the tasks of this array")->type_name("ARRAY");
  verb->add_option("-p,--page", options->page, "this page of all jobs, 1 = the newest")
      ->type_name("PAGE")
      ->check(CLI::Range(1, 1'000'000));
  verb->add_option("--page-size", options->page_size, "jobs on a page, 12 by default (also -ps)")
      ->check(CLI::Range(1, kJobPageSize));
  verb->add_flag("-w,--watch", options->watch, "show changes as they happen");
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .examples = {{"hai list", "your jobs that wait or run, and those of the last day"},
                   {"hai list -a -s running -g training", "who runs in this group"},
                   {"hai list -p 2 -ps 20", "the second page of all your jobs, as in HAI"},
                   {"hai list --array 17", "its tasks that wait or run, and those of the last day"},
                   {"hai list -w", "stay, and show changes as they happen"}}};
  verb->callback([&session, options] { session.exit_code = list(session, *options); });
}

}  // namespace hai::cli
