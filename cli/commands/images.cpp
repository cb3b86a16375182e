// The container images that nodes keep: each node is asked by a stream of its own, as for a shell.

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/node_list.h"
#include "cli/node_names.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/shell_io.h"
#include "cli/table.h"
#include "common/bytes.h"
#include "common/hostlist.h"
#include "common/image.h"
#include "common/shell_messages.h"

namespace hai::cli {
namespace {

constexpr size_t kAskedAtOnce = 16;

struct ImagesOptions {
  std::vector<std::string> nodes;  // names or host lists; none = all that are up
  std::string image;
  std::string keep = "0";
  OutputFormat output = OutputFormat::table;
};

struct Answer {
  std::string node;
  Status status = ok();
  std::string text;  // what hai-image wrote there
};

// The last line, without the name of the program.
std::string complaint_in(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  text = text.substr(text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1);
  constexpr std::string_view kName = "hai-image: ";
  if (text.starts_with(kName)) text.remove_prefix(kName.size());
  return std::string(text);
}

void ask_node(Client& client, const std::vector<std::string>& words, Answer& answer) {
  v1::ShellOpen open;
  open.set_job(std::string(kImagesOfNodePrefix) + answer.node);
  for (const std::string& word : words) open.mutable_program()->add_argv(word);
  const Result<ShellOutput> out = run_to_end(client, open);
  if (!out.is_ok()) {
    answer.status = out.status();
    return;
  }
  answer.text = out.value().output;
  if (out.value().exit_code != 0) {
    answer.status = failed_precondition("{}", complaint_in(out.value().errors));
  }
}

// Some at once; in the order of the nodes.
std::vector<Answer> ask_nodes(const Client& client, const std::vector<std::string>& nodes,
                              const std::vector<std::string>& words) {
  std::vector<Answer> answers;
  for (const std::string& node : nodes) answers.push_back({.node = node, .text = {}});
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min(kAskedAtOnce, nodes.size()); ++i) {
    threads.emplace_back([&, own = client.clone()] {
      for (size_t at = next++; at < answers.size(); at = next++) ask_node(*own, words, answers[at]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return answers;
}

// Those that are named, or all that are up.
Result<std::vector<std::string>> wanted_nodes(Client& client,
                                              const std::vector<std::string>& names) {
  Result<std::vector<v1::Node>> found = all_nodes(client);
  RETURN_IF_ERROR(found.status());
  std::vector<v1::Node> nodes = std::move(found).value();
  RETURN_IF_ERROR(keep_named(names, nodes));
  std::vector<std::string> wanted;
  std::vector<std::string> away;
  for (const v1::Node& node : nodes) {
    const bool is_asked = !names.empty() || node.liveness() == "up";
    (is_asked ? wanted : away).push_back(node.name());
  }
  if (!away.empty()) say(fmt::format("not asked, as they are not up: {}", format_hostlist(away)));
  return wanted;
}

// One line for each thing that went wrong, with the nodes where it did.
int tell_failures(const Session& session, const std::vector<Answer>& answers) {
  std::map<std::string, std::pair<Status, std::vector<std::string>>> failures;
  for (const Answer& answer : answers) {
    if (answer.status.is_ok()) continue;
    auto& [status, nodes] = failures[answer.status.message()];
    status = answer.status;
    nodes.push_back(answer.node);
  }
  int code = kOk;
  for (const auto& [text, failure] : failures) {
    const auto& [status, nodes] = failure;
    const bool is_of_all = failures.size() == 1 && nodes.size() == answers.size();
    code = session.fail(
        is_of_all ? status
                  : Status(status.code(), fmt::format("{}: {}", format_hostlist(nodes), text)));
  }
  return code;
}

std::string without_kind(std::string name) {
  constexpr std::string_view kDocker = "docker://";
  if (name.starts_with(kDocker)) name.erase(0, kDocker.size());
  return name.substr(0, name.find('@'));
}

int list_images(Session& session, const std::vector<Answer>& answers,
                const ImagesOptions& options) {
  const bool is_wide = options.output == OutputFormat::wide;
  constexpr size_t kDigestShown = 19;  // sha256: and 12 digits
  std::vector<Json> items;
  Table table({{"NODE"}, {"IMAGE", false, true, 20}, {"DIGEST"}, {"SIZE", true}, {"LAST USED"}});
  for (const Answer& answer : answers) {
    for (size_t begin = 0; begin < answer.text.size();) {
      const size_t end = std::min(answer.text.find('\n', begin), answer.text.size());
      const Json image = Json::parse(answer.text.substr(begin, end - begin), nullptr, false);
      begin = end + 1;
      if (!image.is_object()) continue;
      items.push_back({{"node", answer.node}});
      items.back().update(image);
      const std::string digest = image.value("digest", "");
      table.add_row({answer.node, without_kind(image.value("name", "")),
                     is_wide ? digest : digest.substr(0, kDigestShown),
                     short_bytes(image.value("bytes", int64_t{0})),
                     local_time(image.value("used_at_us", int64_t{0}))});
    }
  }
  if (is_json(options.output)) {
    print(format_json_list(items, options.output));
  } else if (!table.is_empty()) {
    print(table.render(session.terminal));
  }
  return tell_failures(session, answers);
}

// What hai-image said there, after the node's name.
int show_changes(Session& session, const std::vector<Answer>& answers, std::string_view nothing) {
  std::string text;
  for (const Answer& answer : answers) {
    if (!answer.status.is_ok()) continue;
    if (answer.text.empty()) text += fmt::format("{}: {}\n", answer.node, nothing);
    for (size_t begin = 0; begin < answer.text.size();) {
      const size_t end = std::min(answer.text.find('\n', begin), answer.text.size());
      std::string line = printable(std::string_view(answer.text).substr(begin, end - begin));
      begin = end + 1;
      if (line.starts_with("hai: ")) line.erase(0, 5);
      text += fmt::format("{}: {}\n", answer.node, line);
    }
  }
  if (!text.empty()) print(text);
  return tell_failures(session, answers);
}

// Asks the wanted nodes that, and shows what they answered.
int ask(Session& session, const ImagesOptions& options, const std::vector<std::string>& words,
        const std::function<int(const std::vector<Answer>&)>& show) {
  const Result<std::vector<std::string>> names = parse_node_names(options.nodes);
  if (!names.is_ok()) return session.usage_error("--nodes: " + names.status().message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<std::vector<std::string>> nodes = wanted_nodes(*client.value(), names.value());
  if (!nodes.is_ok()) return session.fail(nodes.status());
  return show(ask_nodes(*client.value(), nodes.value(), words));
}

int list_images_of(Session& session, const ImagesOptions& options) {
  return ask(session, options, {"list"}, [&](const std::vector<Answer>& answers) {
    return list_images(session, answers, options);
  });
}

int pull_image(Session& session, const ImagesOptions& options) {
  const Result<ImageName> image = parse_image(options.image);
  if (!image.is_ok()) return session.usage_error("IMAGE: " + image.status().message());
  if (image.value().kind != ImageName::Kind::registry)
    return session.usage_error("IMAGE: only those of registries are pulled ahead");
  return ask(session, options, {"pull", to_string(image.value())},
             [&](const std::vector<Answer>& answers) {
               return show_changes(session, answers, "has it already");
             });
}

int prune_images(Session& session, const ImagesOptions& options) {
  const Result<int64_t> bytes = parse_bytes(options.keep);
  if (!bytes.is_ok()) return session.usage_error("--keep: " + bytes.status().message());
  return ask(session, options, {"prune", "--keep", options.keep},
             [&](const std::vector<Answer>& answers) {
               return show_changes(session, answers, "nothing to remove");
             });
}

void add_nodes_option(CLI::App& verb, ImagesOptions& options) {
  verb.add_option("--nodes", options.nodes, "of these: node-[1-4,7]; all by default");
}

}  // namespace

void add_images(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("images", "Show the images that nodes keep")->group("Cluster");
  const auto options = std::make_shared<ImagesOptions>();
  verb->require_subcommand(0, 1);
  add_nodes_option(*verb, *options);
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .details =
          "Container images that jobs ran in stay on their nodes until others need the room. "
          "Operators may pull one before its jobs begin, and remove what nobody uses.",
      .examples = {{"hai images", "what all nodes keep"},
                   {"hai images pull nvcr.io/nvidia/pytorch:24.05-py3 --nodes node-[1-8]",
                    "get one ahead of its jobs"},
                   {"hai images prune --keep 100Gi", "make room on all nodes"}}};
  verb->callback([&session, verb, options] {
    if (!verb->get_subcommands().empty()) return;
    session.exit_code = list_images_of(session, *options);
  });
  CLI::App* pull = verb->add_subcommand("pull", "Get an image before its jobs begin");
  pull->add_option("IMAGE", options->image, "NAME[:TAG] of a registry")->required();
  add_nodes_option(*pull, *options);
  pull->callback([&session, options] { session.exit_code = pull_image(session, *options); });
  CLI::App* prune = verb->add_subcommand("prune", "Remove images that no job uses");
  prune->add_option("--keep", options->keep, "so much of them may stay, as 100Gi; default: 0");
  add_nodes_option(*prune, *options);
  prune->callback([&session, options] { session.exit_code = prune_images(session, *options); });
}

}  // namespace hai::cli
