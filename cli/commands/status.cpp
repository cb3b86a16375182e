#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/commands/pulling.h"
#include "cli/exit_code.h"
#include "cli/follow.h"
#include "cli/format.h"
#include "cli/job_view.h"
#include "cli/node_view.h"
#include "cli/output.h"
#include "cli/patience.h"
#include "cli/session.h"
#include "cli/watch.h"

namespace hai::cli {
namespace {

constexpr int kLastAttempts = 10;

struct StatusOptions {
  std::vector<std::string> jobs;
  bool watch = false;
  OutputFormat output = OutputFormat::table;
};

Result<v1::Job> get_job(Client& client, const std::string& name) {
  v1::GetJobRequest request;
  request.set_job(name);
  return client.get_job(request);
}

// The card with its latest attempts; `wide` with the ranks of the last one, too. A server that
// cannot tell those makes the card no worse.
std::string card(const Session& session, Client& client, const v1::Job& job, bool wide) {
  v1::ListAttemptsRequest request;
  request.set_job(std::to_string(job.id()));
  request.set_page_size(kLastAttempts);
  const Result<v1::ListAttemptsReply> reply = client.list_attempts(request);
  std::vector<v1::Attempt> attempts;
  if (reply.is_ok()) {
    attempts.assign(reply.value().attempts().begin(), reply.value().attempts().end());
  }
  std::string services_url;
  if (job.services_size() > 0) {
    const Result<v1::WhoAmIReply> me = client.who_am_i({});
    if (me.is_ok() && me.value().user() == job.user()) services_url = me.value().services_url();
  }
  std::string text = job_card(job, attempts, wall_now(), session.terminal, services_url);
  const std::string pulling = pulling_of(client, job, attempts, wall_now());
  if (!pulling.empty()) text += "\n" + pulling;
  if (wide && !attempts.empty()) text += "\n" + ranks_table(attempts.front(), session.terminal);
  return text;
}

int show_cluster(Session& session, Client& client, const StatusOptions& options) {
  const auto show = [&]() -> Result<std::string> {
    const Result<v1::Cluster> cluster = client.get_cluster({});
    RETURN_IF_ERROR(cluster.status());
    if (is_json(options.output)) return format_json(to_json(cluster.value()), options.output);
    return cluster_card(cluster.value(), session.terminal);
  };
  if (options.watch) return session.fail(watch(session, client, {}, show));
  const Result<std::string> text = show();
  if (!text.is_ok()) return session.fail(text.status());
  print(text.value());
  return kOk;
}

int watch_one(Session& session, Client& client, const StatusOptions& options) {
  v1::WatchJobRequest request;
  request.set_job(options.jobs.front());
  const auto events = client.clone();  // the stream stays open while attempts are asked for
  Patience patience;
  for (;;) {
    bool ended = false;
    const Status status = events->watch_job(request, [&](const v1::Job& job) {
      patience.heard();
      request.set_job(std::to_string(job.id()));
      if (is_json(options.output)) {
        print(format_json(to_json(job), options.output));
      } else {
        show_in_place(session, card(session, client, job, options.output == OutputFormat::wide));
      }
      ended = is_terminal(job);
      return !ended;
    });
    if (ended) return kOk;
    if (!patience.retry(status)) {
      return session.fail(status.is_ok() ? unavailable("the server ended the watch") : status);
    }
  }
}

int show_jobs(Session& session, Client& client, const StatusOptions& options) {
  int exit_code = kOk;
  std::vector<Json> items;
  bool first = true;
  for (const std::string& name : options.jobs) {
    const Result<v1::Job> job = get_job(client, name);
    if (!job.is_ok()) {
      const int code = session.fail(job.status());
      if (exit_code == kOk) exit_code = code;
    } else if (is_json(options.output)) {
      items.push_back(to_json(job.value()));
    } else {
      print((first ? "" : "\n") +
            card(session, client, job.value(), options.output == OutputFormat::wide));
      first = false;
    }
  }
  if (is_json(options.output) && options.jobs.size() > 1) {
    print(format_json_list(items, options.output));
  } else if (!items.empty()) {
    print(format_json(items.front(), options.output));
  }
  return exit_code;
}

int status(Session& session, const StatusOptions& options) {
  if (options.watch && options.jobs.size() > 1) {
    return session.usage_error("hai status -w shows one job at a time");
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  if (options.jobs.empty()) return show_cluster(session, *client.value(), options);
  if (options.watch) return watch_one(session, *client.value(), options);
  return show_jobs(session, *client.value(), options);
}

}  // namespace

void add_status(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("status", "Show jobs in full; without a job, the cluster")->group("Jobs");
  const auto options = std::make_shared<StatusOptions>();
  verb->add_option("JOB", options->jobs, "ids or names");
  verb->add_flag("-w,--watch", options->watch, "show changes as they happen");
  add_output_option(*verb, options->output);
  verb->add_flag_callback(
      "-j,--json", [options] { options->output = OutputFormat::json; }, "as -o json");
  session.help[verb] = {
      .examples = {{"hai status train", "one job, its attempts and what it waits for"},
                   {"hai status", "the cluster: GPUs, nodes and jobs"},
                   {"hai status train -o json", "for scripts"}}};
  verb->callback([&session, options] { session.exit_code = status(session, *options); });
}

}  // namespace hai::cli
