#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/node_list.h"
#include "cli/node_names.h"
#include "cli/node_view.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/unknown_filter.h"
#include "cli/watch.h"

namespace hai::cli {
namespace {

struct NodesOptions {
  std::vector<std::string> names;  // or host lists
  std::string group;
  std::string zone;
  std::string leaf;
  std::string liveness;
  std::string scheduling;
  bool watch = false;
  bool tree = false;
  OutputFormat output = OutputFormat::table;
};

Result<std::string> render_one(const Session& session, Client& client, const NodesOptions& options,
                               const std::string& name) {
  v1::GetNodeRequest request;
  request.set_name(name);
  const Result<v1::Node> node = client.get_node(request);
  RETURN_IF_ERROR(node.status());
  if (is_json(options.output)) return format_json(to_json(node.value()), options.output);
  return node_card(node.value(), options.output == OutputFormat::wide, session.terminal);
}

bool passes(const NodesOptions& options, const v1::Node& node) {
  const auto fits = [](const std::string& wanted, const std::string& is) {
    return wanted.empty() || wanted == is;
  };
  return fits(options.group, node.group()) && fits(options.zone, node.zone()) &&
         fits(options.leaf, node.leaf()) && fits(options.liveness, node.liveness()) &&
         fits(options.scheduling, node.scheduling());
}

// With `names`, only these; an unknown one among them is an error for all.
Result<std::string> render_all(const Session& session, Client& client, const NodesOptions& options,
                               const std::vector<std::string>& names) {
  v1::ListNodesRequest request;
  if (names.empty()) {  // else the filters come after the names: a node that is left out does exist
    request.set_group(options.group);
    request.set_zone(options.zone);
    request.set_leaf(options.leaf);
    request.set_liveness(options.liveness);
    request.set_scheduling(options.scheduling);
  }
  Result<std::vector<v1::Node>> found = all_nodes(client, request);
  RETURN_IF_ERROR(found.status());
  std::vector<v1::Node> nodes = std::move(found).value();
  RETURN_IF_ERROR(keep_named(names, nodes));
  std::erase_if(nodes, [&](const v1::Node& node) { return !passes(options, node); });
  if (nodes.empty() && !options.watch) {
    for (const std::string& line : unknown_names(client, {}, {options.group})) say(line);
  }
  if (is_json(options.output)) {
    std::vector<Json> items;
    for (const v1::Node& node : nodes) items.push_back(to_json(node));
    return format_json_list(items, options.output);
  }
  return options.tree ? node_tree(nodes, session.terminal)
                      : node_table(nodes, options.output == OutputFormat::wide, session.terminal);
}

int nodes(Session& session, const NodesOptions& options) {
  const Result<std::vector<std::string>> names = parse_node_names(options.names);
  if (!names.is_ok()) return session.usage_error(names.status().message());
  const bool is_one = names.value().size() == 1 && !options.tree;
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const auto show = [&] {
    return is_one ? render_one(session, *client.value(), options, names.value().front())
                  : render_all(session, *client.value(), options, names.value());
  };
  if (options.watch) {
    v1::WatchEventsRequest filter;
    if (is_one) filter.set_node(names.value().front());
    return session.fail(watch(session, *client.value(), filter, show));
  }
  const Result<std::string> text = show();
  if (!text.is_ok()) return session.fail(text.status());
  print(text.value());
  return kOk;
}

}  // namespace

void add_nodes(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("nodes", "List nodes, or show some")->group("Cluster");
  const auto options = std::make_shared<NodesOptions>();
  verb->add_option("NODE", options->names,
                   "names or lists: node-[1-4,7]; one alone is shown with its health, with -o wide "
                   "all its checks");
  verb->add_option("-g,--group", options->group, "only of this group");
  verb->add_option("--zone", options->zone, "only of this zone");
  verb->add_option("--leaf", options->leaf, "only of this leaf");
  verb->add_option("--liveness", options->liveness, "only nodes that are so")
      ->check(CLI::IsMember({"up", "suspect", "down"}));
  verb->add_option("--scheduling", options->scheduling, "only nodes that are so")
      ->check(CLI::IsMember({"open", "cordoned", "draining", "drained"}));
  verb->add_flag("--tree", options->tree, "by group, zone and leaf");
  verb->add_flag("-w,--watch", options->watch, "show changes as they happen");
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .examples = {{"hai nodes", "all of them"},
                   {"hai nodes --scheduling drained", "those that are drained"},
                   {"hai nodes node-3 -o wide", "one, with all its health checks"}}};
  verb->callback([&session, options] { session.exit_code = nodes(session, *options); });
}

}  // namespace hai::cli
