#include "agent/join.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <thread>

#include "agent/agent_config.h"
#include "agent/join_patience.h"
#include "agent/node_table.h"
#include "agent/os/agent_instance.h"
#include "agent/os/files.h"
#include "agent/os/host_facts.h"
#include "agent/rpc/certificate_calls.h"
#include "agent/rpc/node_files.h"
#include "agent/rpc/server_list.h"
#include "agent/server_file.h"
#include "common/config/yaml_text.h"
#include "common/host_port.h"
#include "common/hostlist.h"
#include "common/machine/systemd_unit.h"
#include "common/tls/certificate.h"
#include "common/tls/fingerprints.h"
#include "common/tls/replace_file.h"
#include "common/tls/request.h"
#include "common/tls/tls_client.h"

namespace hai {
namespace {

namespace fs = std::filesystem;

// What a server issues begins an hour before its own clock.
constexpr Duration kClockOffMax = 30min;
constexpr const char* kDataDir = "/var/lib/hai/agent";

// What is to be written, and where.
struct Plan {
  std::string name;
  TlsFiles files;
  std::string config;  // its text; "" = it is there already
  std::string data_dir = kDataDir;
  std::string sys_root = "/sys";
};

Result<std::string> token_of(const JoinArguments& arguments) {
  std::string token = arguments.token;
  if (token == "-") std::getline(std::cin, token);
  const bool is_plain =
      std::ranges::all_of(token, [](unsigned char c) { return std::isgraph(c) != 0; });
  if (!token.empty() && token.size() <= 255 && is_plain) return token;
  return invalid_argument(
      "--token: 1 to 255 printable characters: the word behind --token in what `hai node token "
      "create` prints");
}

// As the flags say, or the site's table.
Result<NodePlace> place_of(const JoinArguments& arguments, const std::string& name) {
  if (arguments.table.empty()) {
    return NodePlace{.group = arguments.group, .zone = arguments.zone, .leaf = arguments.leaf};
  }
  constexpr size_t kTableBytesMax = 16 << 20;
  const Result<std::string> text = read_file(arguments.table, kTableBytesMax);
  if (!text.is_ok()) {
    return Status(text.status().code(), fmt::format("--table: cannot read {}: {}", arguments.table,
                                                    text.status().message()));
  }
  return place_in_table(text.value(), arguments.table, name);
}

std::string config_text(const JoinArguments& arguments, const std::string& name,
                        const NodePlace& place, const TlsFiles& files) {
  std::string position;
  for (const auto& [key, value] : {std::pair("group", &place.group), std::pair("zone", &place.zone),
                                   std::pair("leaf", &place.leaf)}) {
    if (!value->empty()) position += fmt::format("{}: {}\n", key, quoted_yaml(*value));
  }
  std::vector<std::string> servers;
  for (const std::string& server : arguments.servers) servers.push_back(quoted_yaml(server));
  return fmt::format(
      "# Written by hai-agent join. All keys: docs/operations, deploy/agent.yaml.\n"
      "name: {}\n{}data_dir: {}\nservers: [{}]\n"
      "tls:\n  ca: {}\n  certificate: {}\n  key: {}\n",
      quoted_yaml(name), position, kDataDir, fmt::join(servers, ", "), quoted_yaml(files.ca),
      quoted_yaml(files.certificate), quoted_yaml(files.key));
}

// The agent goes to the servers that it knows: what another cluster issued is of no use there, and
// would be in the place of what is.
Status check_servers(const AgentConfig& config, const JoinArguments& arguments,
                     const std::string& path) {
  const std::vector<std::string> known = all_servers(config.servers, load_servers(config.data_dir));
  if (std::ranges::find_first_of(known, arguments.servers) != known.end()) return ok();
  return invalid_argument(
      "SERVERS: {} says that the servers of this node are {}: name one of those, or change them "
      "there",
      path, fmt::join(known, ","));
}

// With a config that is there: its name and its files.
Result<Plan> plan_with(const AgentConfig& config, const JoinArguments& arguments,
                       const std::string& path) {
  const bool has_place =
      !arguments.group.empty() || !arguments.zone.empty() || !arguments.leaf.empty();
  // With --once the same line is run at each start of the machine.
  if (has_place && !arguments.once) {
    return invalid_argument(
        "{} is there already: leave --group, --zone and --leaf out, or change them there", path);
  }
  if (config.tls.certificate.empty()) {
    const fs::path folder = fs::absolute(path).parent_path();
    return failed_precondition(
        "{} is there already and has no tls section; say in it where the files shall be:\n"
        "tls:\n  ca: {}/node-ca.crt\n  certificate: {}/node.pem\n  key: {}/node.pem",
        path, folder.string(), folder.string(), folder.string());
  }
  const std::string its_name = config.name.empty() ? gather_host_facts().name : config.name;
  if (!arguments.name.empty() && arguments.name != its_name) {
    return invalid_argument(
        "--name: {} says that this node is {}: leave it out, or change it there", path, its_name);
  }
  RETURN_IF_ERROR(check_servers(config, arguments, path));
  return Plan{.name = its_name,
              .files = config.tls,
              .data_dir = config.data_dir,
              .sys_root = config.health.sys_root};
}

Result<Plan> make_plan(const JoinArguments& arguments, const std::string& path) {
  const Result<AgentConfig> config = read_agent_config(path);
  if (config.is_ok()) return plan_with(config.value(), arguments, path);
  if (config.status().code() != Code::not_found) return config.status();
  Plan plan{.name = arguments.name.empty() ? gather_host_facts().name : arguments.name};
  const fs::path folder = fs::absolute(path).parent_path();
  // Certificate and key in one file: so they are replaced at once when they are renewed.
  const std::string pair = (folder / "node.pem").string();
  plan.files = {.certificate = pair, .key = pair, .ca = (folder / "node-ca.crt").string()};
  const Result<NodePlace> place = place_of(arguments, plan.name);
  RETURN_IF_ERROR(place.status());
  plan.config = config_text(arguments, plan.name, place.value(), plan.files);
  // As the agent will judge it, before the token loses one of its uses.
  RETURN_IF_ERROR(parse_agent_config(plan.config, "the config to be written").status());
  return plan;
}

// Before the token loses one of its uses.
Status check_writable(const Plan& plan, const std::string& config) {
  for (const std::string& file : {plan.files.ca, plan.files.certificate, plan.files.key, config}) {
    const fs::path folder = fs::absolute(file).parent_path();
    if (::access(folder.c_str(), W_OK | X_OK) == 0) continue;
    std::error_code error;
    if (!fs::exists(folder, error))
      return not_found("no folder {}: make it first", folder.string());
    return permission_denied("cannot write in {}: be root, or say another --config",
                             folder.string());
  }
  return ok();
}

// Whom to believe: the CA that was given, or that one which the server shows and whose fingerprint
// was given.
Result<std::string> authority_for(const JoinArguments& arguments, const std::string& server) {
  if (!arguments.ca.empty()) {
    Result<TlsTexts> texts = read_tls_files({.ca = arguments.ca});
    RETURN_IF_ERROR(texts.status());
    return texts.value().ca;
  }
  const Result<std::vector<std::string>> fingerprints = parse_fingerprints(arguments.fingerprint);
  RETURN_IF_ERROR(fingerprints.status());
  return authority_shown_by(server, fingerprints.value());
}

// Asks until there is an answer that waiting will not change, or is no use for.
template <typename Try>
auto ask_patiently(Try ask, bool (*is_final)(const Status&)) {
  using Clock = std::chrono::steady_clock;
  JoinPatience patience(std::random_device{}());
  const auto began = Clock::now();
  for (bool is_first = true;; is_first = false) {
    auto answer = ask();
    if (is_final(answer.status())) return answer;
    const Duration waited = std::chrono::floor<Duration>(Clock::now() - began);
    const std::optional<Duration> pause = patience.pause_after(answer.status(), waited);
    if (!pause) return answer;
    if (is_first) {
      fmt::print(stderr, "hai-agent: {}; asking again, for {} at most\n", answer.status().message(),
                 format_duration(JoinPatience::most(answer.status())));
    }
    std::this_thread::sleep_for(*pause);
  }
}

struct BelievedServer {
  std::string server;
  std::string authority;
};

// The first that answers. deadline_exceeded: one did not in time, as where many come at once.
Result<BelievedServer> first_that_answers(const JoinArguments& arguments) {
  Status why;
  bool is_late = false;
  for (const std::string& server : arguments.servers) {
    const auto began = std::chrono::steady_clock::now();
    const Result<std::string> authority = authority_for(arguments, server);
    TlsDial dial{.address = server, .is_grpc = true};
    why = authority.status();
    // gRPC would not say what is wrong with the server's certificate.
    if (why.is_ok()) {
      dial.texts.ca = authority.value();
      why = TlsClient::connect(dial).status();
    }
    if (why.is_ok()) return BelievedServer{.server = server, .authority = authority.value()};
    if (why.code() != Code::unavailable) return why;
    is_late = is_late || std::chrono::steady_clock::now() - began >= dial.timeout;
  }
  return is_late ? Status(Code::deadline_exceeded, why.message()) : why;
}

// Where nobody listens, waiting is no use.
Result<BelievedServer> find_server(const JoinArguments& arguments) {
  return ask_patiently([&arguments] { return first_that_answers(arguments); },
                       [](const Status& why) { return why.code() == Code::unavailable; });
}

// A certificate that begins tomorrow by this machine's clock would be none, and the token be used.
Status check_clock(const std::string& server, const std::string& authority) {
  const auto ahead = ask_clock_ahead(server, {.ca = authority});
  // What is wrong with the server is told by what is asked of it next.
  if (!ahead.is_ok() || !ahead.value()) return ok();
  const Duration off = std::chrono::abs(*ahead.value());
  if (off <= kClockOffMax) return ok();
  return failed_precondition(
      "this machine's clock is {} {} that of {}: let a time service (chrony) set it, then join",
      format_duration(std::chrono::round<std::chrono::minutes>(off)),
      ahead.value()->count() < 0 ? "behind" : "ahead of", server);
}

Status write(const Plan& plan, const NodeCertificateReply& reply, const std::string& key,
             const std::string& authorities, const std::string& config) {
  RETURN_IF_ERROR(keep_reply(plan.files, reply, key, authorities));
  return plan.config.empty() ? ok() : replace_file(config, plan.config, 0644);
}

void say_what_is_next(const Plan& plan, const NodeCertificateReply& reply,
                      const std::string& config) {
  const CertificateFacts facts = read_certificate(reply.certificate).value();
  fmt::print("{} has joined {}; its certificate holds until {} and is renewed by the agent\n",
             plan.name, reply.cluster, format_rfc3339(facts.ends));
  fmt::print("{}\n{}\n", plan.files.key, plan.files.ca);
  fmt::print("{}{}\n", config, plan.config.empty() ? " (unchanged)" : "");
}

// Where systemd does not run it, or with another config, the agent is somebody else's to start.
Status start_agent(const JoinArguments& arguments, const std::string& config) {
  const bool is_unit = fs::absolute(config) == kAgentUnitConfig && ::geteuid() == 0;
  if (!arguments.starts || !is_unit || !has_systemd()) {
    fmt::print("Next: start the agent: hai-agent --config {}\n", config);
    return ok();
  }
  RETURN_IF_ERROR(start_unit(kAgentUnit));
  fmt::print("{} runs, and starts with the machine\n", kAgentUnit);
  return ok();
}

// In an image or cloud-init the same line runs at each start of the machine.
bool has_joined(const Plan& plan) {
  return plan.config.empty() && read_tls_files(plan.files).is_ok();
}

// As its agent will say it, so that a name which is another machine's is refused before the token
// loses one of its uses.
Result<AgentIdentity> identity_for(const Plan& plan) {
  AgentIdentity identity = identity_of(gather_host_facts(plan.sys_root));
  Result<std::string> instance = instance_for_now(plan.data_dir, identity.machine);
  RETURN_IF_ERROR(instance.status());
  identity.instance = std::move(instance).value();
  return identity;
}

Status join_at(const std::string& server, const std::string& authority, const Plan& plan,
               const std::string& token, const JoinArguments& arguments,
               const std::string& config) {
  const Result<KeyAndRequest> made = make_request(plan.name);
  RETURN_IF_ERROR(made.status());
  const Result<AgentIdentity> identity = identity_for(plan);
  RETURN_IF_ERROR(identity.status());
  RETURN_IF_ERROR(check_clock(server, authority));
  const JoinCall call{.server = server,
                      .tls = {.ca = authority},
                      .token = token,
                      .node = plan.name,
                      .machine = identity.value(),
                      .request = made.value().request};
  const auto reply =
      ask_patiently([&call] { return call_join(call); }, [](const Status&) { return false; });
  RETURN_IF_ERROR(reply.status());
  RETURN_IF_ERROR(check_reply(reply.value(), plan.name, made.value().key));
  const std::string authorities = authorities_to_keep(reply.value(), authority, arguments.servers);
  RETURN_IF_ERROR(write(plan, reply.value(), made.value().key, authorities, config));
  say_what_is_next(plan, reply.value(), config);
  return start_agent(arguments, config);
}

}  // namespace

void add_join_command(CLI::App& app, JoinArguments& arguments) {
  arguments.app = app.add_subcommand(
      "join", "make this machine a node: gets it a certificate, writes it and the config");
  CLI::App& join = *arguments.app;
  join.fallthrough();
  join.add_option("SERVERS", arguments.servers,
                  "host:port of each server's gRPC, with commas: the first that answers is asked, "
                  "and a new config names all")
      ->delimiter(',')
      ->required();
  join.add_option("--token", arguments.token,
                  "of `hai node token create`; - reads it from standard input, where other users "
                  "of this machine don't see it")
      ->required();
  join.add_option("--name", arguments.name,
                  "the node's name; default: as the config says, or "
                  "this host's");
  auto* who = join.add_option_group("whom to believe");
  who->add_option("--ca", arguments.ca, "file with the CA of the servers, in PEM");
  who->add_option("--ca-fingerprint", arguments.fingerprint,
                  "sha256:HEX of that CA, which the server then shows; several with commas");
  who->require_option(1);
  CLI::Option* places[] = {
      join.add_option("--group", arguments.group, "of a new config: the node's group"),
      join.add_option("--zone", arguments.zone, "of a new config: the node's zone"),
      join.add_option("--leaf", arguments.leaf, "of a new config: the node's leaf")};
  CLI::Option* table =
      join.add_option("--table", arguments.table,
                      "of a new config: CSV file with the columns name,group,zone,leaf and a line "
                      "for this node, the same file for all nodes");
  for (CLI::Option* place : places) table->excludes(place);
  join.add_flag("--once", arguments.once,
                "do nothing if the node has joined and its certificate is in force");
  join.add_flag("!--no-start", arguments.starts, "neither enable nor start hai-agent.service");
}

Status join_cluster(const JoinArguments& arguments, const std::string& config) {
  for (const std::string& server : arguments.servers) {
    const HostPort to = split_host_port(server);
    if (!to.host.empty() && !to.port.empty()) continue;
    return invalid_argument("SERVERS: must be host:port, for example hai-server:7700, is {}",
                            server);
  }
  const Result<std::string> token = token_of(arguments);
  RETURN_IF_ERROR(token.status());
  const Result<Plan> plan = make_plan(arguments, config);
  RETURN_IF_ERROR(plan.status());
  if (arguments.once && has_joined(plan.value())) {
    fmt::print("{} has joined already\n", plan.value().name);
    return start_agent(arguments, config);
  }
  RETURN_IF_ERROR(check_writable(plan.value(), config));
  const Result<BelievedServer> found = find_server(arguments);
  RETURN_IF_ERROR(found.status());
  return join_at(found.value().server, found.value().authority, plan.value(), token.value(),
                 arguments, config);
}

}  // namespace hai
