#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/node_view.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/watch.h"

namespace hai::cli {
namespace {

struct Options {
  std::string name;
  std::string group;
  std::string zone;
  std::string leaf;
  std::string liveness;
  std::string scheduling;
  bool watch = false;
  OutputFormat output = OutputFormat::table;
};

Result<std::string> render_one(const Session& session, Client& client, const Options& options) {
  v1::GetNodeRequest request;
  request.set_name(options.name);
  const Result<v1::Node> node = client.get_node(request);
  RETURN_IF_ERROR(node.status());
  if (is_json(options.output)) return format_json(to_json(node.value()), options.output);
  return node_card(node.value(), session.terminal);
}

Result<std::string> render_all(const Session& session, Client& client, const Options& options) {
  v1::ListNodesRequest request;
  request.set_group(options.group);
  request.set_zone(options.zone);
  request.set_leaf(options.leaf);
  request.set_liveness(options.liveness);
  request.set_scheduling(options.scheduling);
  request.set_with_checks(is_json(options.output));
  std::vector<v1::Node> nodes;
  for (;;) {
    const Result<v1::ListNodesReply> page = client.list_nodes(request);
    RETURN_IF_ERROR(page.status());
    nodes.insert(nodes.end(), page.value().nodes().begin(), page.value().nodes().end());
    if (page.value().next_cursor().empty()) break;
    request.set_cursor(page.value().next_cursor());
  }
  if (!is_json(options.output)) {
    return node_table(nodes, options.output == OutputFormat::wide, session.terminal);
  }
  std::vector<Json> items;
  for (const v1::Node& node : nodes) items.push_back(to_json(node));
  return format_json_list(items, options.output);
}

int nodes(Session& session, const Options& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const auto show = [&] {
    return options.name.empty() ? render_all(session, *client.value(), options)
                                : render_one(session, *client.value(), options);
  };
  if (options.watch) {
    v1::WatchEventsRequest filter;
    filter.set_node(options.name);
    return session.fail(watch(session, *client.value(), filter, show));
  }
  const Result<std::string> text = show();
  if (!text.is_ok()) return session.fail(text.status());
  print(text.value());
  return kOk;
}

}  // namespace

void add_nodes(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("nodes", "List nodes, or show one")->group("Cluster");
  const auto options = std::make_shared<Options>();
  verb->add_option("NODE", options->name, "this node with its health checks");
  verb->add_option("-g,--group", options->group, "only of this group");
  verb->add_option("--zone", options->zone, "only of this zone");
  verb->add_option("--leaf", options->leaf, "only of this leaf");
  verb->add_option("--liveness", options->liveness, "only up, suspect or down")
      ->check(CLI::IsMember({"up", "suspect", "down"}));
  verb->add_option("--scheduling", options->scheduling, "only open, cordoned, draining or drained")
      ->check(CLI::IsMember({"open", "cordoned", "draining", "drained"}));
  verb->add_flag("-w,--watch", options->watch, "show changes as they happen");
  add_output_option(*verb, options->output);
  verb->callback([&session, options] { session.exit_code = nodes(session, *options); });
}

}  // namespace hai::cli
