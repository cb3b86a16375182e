// hai doctor: what of this machine's setup is wrong. The server's and the node's part are looked at
// by their own programs, which know their configs; what they find is shown with what is found here.

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/context_config.h"
#include "cli/dev/programs.h"
#include "cli/exit_code.h"
#include "cli/node_list.h"
#include "cli/output.h"
#include "cli/session.h"
#include "common/doctor/judge.h"
#include "common/doctor/look.h"
#include "common/hostlist.h"
#include "common/machine/bounded_child.h"
#include "common/version.h"

namespace hai::cli {
namespace {

constexpr Duration kAnswer = 5s;  // of a server
constexpr Duration kPart = 180s;  // of another doctor, whose checks have their own limits

struct DoctorOptions {
  std::string server_config = "/etc/hai/server.yaml";
  std::string agent_config = "/etc/hai/agent.yaml";
  OutputFormat output = OutputFormat::table;
};

bool is_there(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0;
}

// No finding where its config is not there: then the machine is no server or no node.
std::vector<Finding> ask_part(const std::string& part, const std::string& program,
                              const std::string& config) {
  if (!is_there(config)) return {};
  const auto one = [&](Finding finding) {
    finding.part = part;
    finding.check = "program";
    return std::vector{std::move(finding)};
  };
  const Result<std::string> path = find_program(program);
  if (!path.is_ok()) {
    return one(warning(config + " is here, but " + program + " is not", "install its package"));
  }
  const ChildOutput said =
      run_command({path.value(), "--config", config, "doctor", "--output", "json"},
                  {.patience = kPart, .bytes_max = 4 << 20});
  if (said.is_late) return one(failure(program + " doctor does not end", "report it"));
  // What it has logged stands before its findings.
  const size_t begin = said.text.starts_with("[\n") ? 0 : said.text.find("\n[\n");
  Result<std::vector<Finding>> findings =
      parse_findings(begin == std::string::npos ? "" : std::string_view(said.text).substr(begin));
  if (findings.is_ok()) return std::move(findings).value();
  return one(failure(fmt::format("{} doctor: {}", program, said.text.substr(0, 200)),
                     "is it of the same version as hai?"));
}

Result<Context> context_of(const Session& session) {
  const Result<ContextConfig> config = load_contexts(context_config_path());
  RETURN_IF_ERROR(config.status());
  return choose_context(config.value(), session.context);
}

std::vector<Finding> look_at_context(const Session& session) {
  const Result<Context> context = context_of(session);
  if (!context.is_ok()) {
    return {warning(context.status().message(), "`hai init` makes one for whoever works here")};
  }
  return {all_well(context.value().name)};
}

std::vector<Finding> look_at_ca(const Session& session) {
  const Result<Context> context = context_of(session);
  if (!context.is_ok() || context.value().ca == Context::kSystem) return {};
  if (context.value().ca.empty()) {
    return {warning("without TLS: the token is read by whoever stands on the way",
                    "`hai init` with an https:// address")};
  }
  std::vector<Finding> findings;
  for (const CertificateFacts& facts : read_certificates(context.value().ca)) {
    findings.push_back(judge_certificate("the CA of context " + context.value().name, facts,
                                         clock_now(), {}, "`hai init … --ca` with the new one"));
  }
  return findings;
}

// In the middle of an upgrade: which nodes it has not come to.
void judge_versions(const std::vector<v1::Node>& nodes, const std::string& server,
                    std::vector<Finding>& findings) {
  std::map<std::string, std::vector<std::string>> others;
  for (const v1::Node& node : nodes) {
    if (node.agent_version() != server) others[node.agent_version()].push_back(node.name());
  }
  constexpr size_t kNamesBytesMax = 200;
  for (auto& [version, names] : others) {
    const size_t count = names.size();
    std::string which = format_hostlist(std::move(names));
    if (which.size() > kNamesBytesMax) which = which.substr(0, kNamesBytesMax) + "…";
    findings.push_back(warning(
        fmt::format("the server is of version {}, {} of {} nodes of {}: {}", server, count,
                    nodes.size(), version.empty() ? "one that is not told" : version, which),
        "upgrade hai-agent there; `hai nodes -o wide` shows the version of each"));
  }
}

// Whether a server takes this context's token, and what it is.
std::vector<Finding> look_at_server(Session& session) {
  if (!context_of(session).is_ok()) return {};
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return {failure(client.status().message(), "`hai init` makes another one")};
  client.value()->hurry(kAnswer);
  const Result<v1::WhoAmIReply> who = client.value()->who_am_i({});
  if (!who.is_ok()) {
    const bool is_refused = who.status().code() == Code::unauthenticated;
    return {failure(who.status().message(),
                    is_refused ? "`hai token create` where you are signed in, and `hai init` here"
                               : "does a server run, and does a firewall stand between? `hai "
                                 "doctor` on the server's machine tells more")};
  }
  std::vector<Finding> findings{all_well(fmt::format(
      "{} knows you as {} ({})", who.value().cluster(), who.value().user(), who.value().role()))};
  const Result<v1::Cluster> cluster = client.value()->get_cluster({});
  if (!cluster.is_ok()) return findings;
  const std::string& its = cluster.value().version();
  if (its != version()) {
    findings.push_back(
        warning(fmt::format("the server is of version {}, hai of {}", its, version()),
                "install the same version on both"));
  }
  const Result<std::vector<v1::Node>> nodes = all_nodes(*client.value());
  if (nodes.is_ok()) judge_versions(nodes.value(), its, findings);
  return findings;
}

// Tokens and certificates end by the server's clock.
std::vector<Finding> look_at_server_clock(Session& session) {
  if (!context_of(session).is_ok()) return {};
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return {};
  client.value()->hurry(kAnswer);
  // The second call finds a connection that is there, and so tells it closer.
  for (int tries = 0; tries < 2; ++tries) (void)client.value()->who_am_i({});
  const std::optional<Duration> ahead = client.value()->clock_ahead();
  if (!ahead) return {};
  return {judge_clock_difference("the server", *ahead)};
}

// Jobs run as the accounts of their submitters. Only administrators see all users.
std::vector<Finding> look_at_people(Session& session) {
  if (!context_of(session).is_ok()) return {};
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return {};
  client.value()->hurry(kAnswer);
  const Result<v1::ListUsersReply> users = client.value()->list_users({});
  if (!users.is_ok()) return {};
  int missing = 0;
  std::string first;
  for (const v1::User& user : users.value().users()) {
    if (!user.active() || ::getpwnam(user.name().c_str()) != nullptr) continue;
    if (missing++ == 0) first = user.name();
  }
  if (missing == 0) return {all_well("each user has an account on this node")};
  return {warning(
      fmt::format(
          "{} of {} users have no account on this node, {} for one: their jobs do not start",
          missing, users.value().users_size(), first),
      "make the accounts, or join the site's directory")};
}

std::vector<Finding> examine(Session& session, const DoctorOptions& options) {
  std::vector<Finding> all = ask_part("server", "hai-server", options.server_config);
  const std::vector<Finding> node = ask_part("agent", "hai-agent", options.agent_config);
  all.insert(all.end(), node.begin(), node.end());
  std::vector<DoctorCheck> checks{
      {"version", [] { return std::vector{all_well("hai " + std::string(version()))}; }},
      {"context", [&] { return look_at_context(session); }},
      {"certificate", [&] { return look_at_ca(session); }},
      {"server", [&] { return look_at_server(session); }, 3 * kAnswer},
      {"clock", [&] { return look_at_server_clock(session); }, 3 * kAnswer}};
  if (!node.empty()) {
    checks.push_back({"account", [&] { return look_at_people(session); }, 3 * kAnswer});
  }
  if (all.empty()) checks.push_back({"clock", look_at_clock});
  for (Finding& finding : run_checks("client", checks)) all.push_back(std::move(finding));
  return all;
}

int doctor(Session& session, const DoctorOptions& options) {
  const std::vector<Finding> findings = examine(session, options);
  if (is_json(options.output)) {
    const Json array = Json::parse(format_findings(findings));
    print(format_json_list({array.begin(), array.end()}, options.output));
  } else {
    print(describe_findings(findings));
  }
  return hai::exit_code_of(findings);
}

}  // namespace

void add_doctor(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("doctor", "Look what of this machine's setup is wrong")
                       ->group("Administration");
  const auto options = std::make_shared<DoctorOptions>();
  verb->add_option("--server-config", options->server_config, "of a server on this machine")
      ->capture_default_str();
  verb->add_option("--agent-config", options->agent_config, "of the agent on this machine")
      ->capture_default_str();
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .details =
          "Looks at what is set up here: server, node and the current context. Each line says what "
          "was found and, unless it is ok, what to do. Changes nothing, and ends within some "
          "minutes whatever hangs. As root it sees more.",
      .examples = {{"hai doctor", "all that is set up on this machine"},
                   {"hai doctor -o json", "the same for programs"}},
      .exit_codes = "0 nothing fails (warnings may be there); 1 something fails."};
  verb->callback([&session, options] { session.exit_code = doctor(session, *options); });
}

}  // namespace hai::cli
