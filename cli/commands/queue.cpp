#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"
#include "cli/unknown_filter.h"

namespace hai::cli {
namespace {

// The first look ahead takes seconds; whoever asks first waits for it so long.
constexpr int kAsksMax = 16;
constexpr auto kAskAgain = std::chrono::milliseconds(250);

struct QueueOptions {
  std::string user;
  std::string team;
  std::string group;
  std::vector<std::string> priorities;
  int limit = 0;
  OutputFormat output = OutputFormat::table;
};

Result<v1::Queue> ask_queue(Client& client, const QueueOptions& options) {
  v1::GetQueueRequest request;
  request.set_user(options.user);
  request.set_team(options.team);
  request.set_group(options.group);
  request.mutable_priorities()->Assign(options.priorities.begin(), options.priorities.end());
  request.set_page_size(options.limit);
  for (int ask = 1;; ++ask) {
    Result<v1::Queue> queue = client.get_queue(request);
    if (!queue.is_ok() || queue.value().has_estimated_at_us() || ask == kAsksMax) return queue;
    std::this_thread::sleep_for(kAskAgain);
  }
}

std::string ahead_text(const v1::QueueAhead& ahead) {
  std::vector<std::string> parts;
  const auto add = [&parts](int jobs, const char* why) {
    if (jobs > 0) parts.push_back(fmt::format("{} {}", jobs, why));
  };
  add(ahead.by_priority(), "by priority");
  add(ahead.by_class(), "had less or waited longer");
  add(ahead.by_usage(), "of users who used less");
  add(ahead.by_age(), "came before");
  return parts.empty() ? "nobody" : join(parts, ", ");
}

std::string start_text(const v1::QueueEntry& entry, UnixTime now) {
  if (!entry.has_start_p50_us()) return "-";
  const auto within = [now](int64_t micros) {
    const Duration ahead = unix_micros(micros) - now;
    return ahead < 1s ? std::string("now") : short_duration(ahead);
  };
  std::string text = within(entry.start_p50_us());
  if (entry.has_start_p90_us()) text += " .. " + within(entry.start_p90_us());
  return text;
}

std::string queue_text(const v1::Queue& queue, const Terminal& terminal) {
  const UnixTime now = wall_now();
  Table table({{.title = "POS", .right = true},
               {.title = "ID", .right = true},
               {.title = "NAME", .may_shrink = true},
               {.title = "USER"},
               {.title = "GROUP", .spare = 2},
               {.title = "PRIORITY"},
               {.title = "NODES", .right = true},
               {.title = "WAITS", .right = true},
               {.title = "STARTS IN"},
               {.title = "AHEAD", .may_shrink = true, .spare = 1},
               {.title = "REASON", .may_shrink = true}});
  for (const v1::QueueEntry& entry : queue.entries()) {
    const bool has_place = entry.has_position();
    table.add_row({has_place ? std::to_string(entry.position()) : "-",
                   std::to_string(entry.job_id()), printable(entry.name()), printable(entry.user()),
                   printable(entry.group()), entry.priority(), std::to_string(entry.node_count()),
                   short_duration(now - unix_micros(entry.waiting_since_us())),
                   start_text(entry, now), has_place ? ahead_text(entry.ahead()) : "-",
                   printable(entry.pending_reason().text())});
  }
  std::string text = table.is_empty() ? "no job waits\n" : table.render(terminal);
  if (queue.entries_size() < queue.total()) {
    text += fmt::format("{} of {}; --limit shows more\n", queue.entries_size(), queue.total());
  }
  if (!table.is_empty()) {
    text += paint("  (" + printable(queue.estimate_note()) + ")", Colour::grey, terminal) + "\n";
  }
  return text;
}

int show_queue(Session& session, const QueueOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::Queue> queue = ask_queue(*client.value(), options);
  if (!queue.is_ok()) return session.fail(queue.status());
  if (queue.value().entries_size() == 0) {
    for (const std::string& line :
         unknown_names(*client.value(), {options.user}, {options.group})) {
      say(line);
    }
  }
  print(is_json(options.output) ? format_json(to_json(queue.value()), options.output)
                                : queue_text(queue.value(), session.terminal));
  return kOk;
}

}  // namespace

void add_queue(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("queue", "List what waits, in order, with who is ahead and when it starts")
          ->group("Jobs");
  const auto options = std::make_shared<QueueOptions>();
  verb->add_option("-u,--user", options->user, "jobs of this user");
  verb->add_option("--team", options->team, "jobs of users in this user group");
  verb->add_option("-g,--group", options->group, "jobs for this node group");
  verb->add_option("-p,--priority", options->priorities, "only these priorities")->delimiter(',');
  verb->add_option("-n,--limit", options->limit, "at most so many")->check(CLI::Range(1, 1'000));
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .examples = {{"hai queue", "who goes first, and when"},
                   {"hai queue -u ann", "where Ann's jobs stand and what they wait for"}}};
  verb->callback([&session, options] { session.exit_code = show_queue(session, *options); });
}

}  // namespace hai::cli
