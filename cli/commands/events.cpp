#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/node_names.h"
#include "cli/output.h"
#include "cli/patience.h"
#include "cli/session.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

struct EventsOptions {
  std::string job;
  std::vector<std::string> nodes;  // or host lists
  std::vector<std::string> kinds;
  std::optional<int64_t> after;
  int count = 100;
  bool watch = false;
  OutputFormat output = OutputFormat::table;
};

constexpr int kEventPageSize = 1000;

template <typename Request>
Request request_of(const EventsOptions& options) {
  Request request;
  request.set_job(options.job);
  request.set_node(join(options.nodes, ","));
  request.mutable_kinds()->Assign(options.kinds.begin(), options.kinds.end());
  return request;
}

// The last `count`, oldest first; or with --after, the first `count` after it.
Result<std::vector<v1::Event>> history(Client& client, const EventsOptions& options) {
  auto request = request_of<v1::ListEventsRequest>(options);
  if (options.after) request.set_after_seq(*options.after);
  std::vector<v1::Event> events;
  const auto wanted = static_cast<size_t>(options.count);
  while (events.size() < wanted) {
    request.set_page_size(
        std::min<int>(kEventPageSize, options.count - static_cast<int>(events.size())));
    const Result<v1::ListEventsReply> page = client.list_events(request);
    RETURN_IF_ERROR(page.status());
    events.insert(events.end(), page.value().events().begin(), page.value().events().end());
    // A page may have none of what is asked for, and the next one some.
    if (page.value().next_seq() == 0) break;
    options.after ? request.set_after_seq(page.value().next_seq())
                  : request.set_before_seq(page.value().next_seq());
  }
  if (!options.after) std::reverse(events.begin(), events.end());
  return events;
}

std::string table_of(const std::vector<v1::Event>& events, const Terminal& terminal) {
  Table table({{.title = "SEQ", .right = true, .spare = 3},
               {"TIME"},
               {.title = "ACTOR", .spare = 2},
               {.title = "KIND", .spare = 1},
               {"SUBJECT"},
               {"TEXT", false, true, 24}});
  for (const v1::Event& event : events) {
    table.add_row({std::to_string(event.seq()), local_time(event.at_us()), event.actor(),
                   event.kind(), event.subject(), event.text()});
  }
  return table.render(terminal);
}

// One line of the watch, in the columns a table of common events would have.
std::string line_of(const v1::Event& event, const Terminal& terminal) {
  const std::string line = printable(
      fmt::format("{:>6}  {}  {:<10}  {:<22}  {:<14}  {}", event.seq(), local_time(event.at_us()),
                  event.actor(), event.kind(), event.subject(), event.text()));
  return (terminal.width > 0 ? cut(line, static_cast<size_t>(terminal.width)) : line) + "\n";
}

int follow(Session& session, Client& client, const EventsOptions& options, int64_t after) {
  auto request = request_of<v1::WatchEventsRequest>(options);
  request.set_after_seq(after);
  Patience patience;
  for (;;) {
    const Status status = client.watch_events(request, [&](const v1::Event& event) {
      patience.heard();
      request.set_after_seq(event.seq());
      print(is_json(options.output) ? format_json(to_json(event), OutputFormat::jsonl)
                                    : line_of(event, session.terminal));
      return true;
    });
    if (!patience.retry(status)) {
      return session.fail(status.is_ok() ? unavailable("the server ended the watch") : status);
    }
  }
}

int events(Session& session, const EventsOptions& options) {
  if (const auto names = parse_node_names(options.nodes); !names.is_ok()) {
    return session.usage_error("--node: " + names.status().message());
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<std::vector<v1::Event>> past = history(*client.value(), options);
  if (!past.is_ok()) return session.fail(past.status());
  std::vector<Json> items;
  for (const v1::Event& event : past.value()) items.push_back(to_json(event));
  if (!options.watch) {
    print(is_json(options.output) ? format_json_list(items, options.output)
                                  : table_of(past.value(), session.terminal));
    return kOk;
  }
  if (is_json(options.output)) {
    print(format_json_list(items, OutputFormat::jsonl));
  } else {
    for (const v1::Event& event : past.value()) print(line_of(event, session.terminal));
  }
  const int64_t last = past.value().empty() ? options.after.value_or(0) : past.value().back().seq();
  return follow(session, *client.value(), options, last);
}

}  // namespace

void add_events(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("events", "Show what happened, oldest first")->group("Jobs");
  const auto options = std::make_shared<EventsOptions>();
  verb->add_option("JOB", options->job, "only about this job");
  verb->add_option("--node", options->nodes, "only about these nodes: names or lists")
      ->allow_extra_args(false);
  verb->add_option("--kind", options->kinds, "only these kinds, e.g. job_submitted")
      ->delimiter(',');
  verb->add_option("--after", options->after, "after this sequence number")
      ->type_name("SEQ")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 62));
  verb->add_option("-n,--count", options->count, "at most so many, 100 by default")
      ->check(CLI::Range(1, 100'000));
  verb->add_flag("-w,--watch", options->watch, "go on with events as they happen");
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .examples = {{"hai events train", "what has happened to a job"},
                   {"hai events --node node-3 -n 20", "the last 20 about a node"},
                   {"hai events -w -o jsonl", "everything as it happens, a line each"}}};
  verb->callback([&session, options] { session.exit_code = events(session, *options); });
}

}  // namespace hai::cli
