// hai-server ca: the certificate authority of a cluster, a folder with its certificate and its key.
// Needs no config and no database.

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "common/time.h"
#include "common/tls/authority_folder.h"
#include "common/tls/certificate.h"
#include "common/whole_file.h"
#include "server/commands/command.h"

namespace hai {
namespace {

namespace fs = std::filesystem;

struct CaOptions {
  std::string folder;
  std::string out;  // "" = the folder
  std::vector<std::string> names;
  std::string node;
  int days = kCertificateDays;
  bool nodes_have_renewed = false;
};

Status init(const CaOptions& options) {
  const AuthorityFolder folder(options.folder);
  RETURN_IF_ERROR(folder.make());
  const Result<KeyAndCertificate> made = make_authority();
  RETURN_IF_ERROR(made.status());
  RETURN_IF_ERROR(folder.write_authority(made.value()));
  fmt::print("{}  for everybody: people, nodes and servers believe by it\n", folder.certificate());
  fmt::print("{}  for nobody: whoever has it can be any server and any node\n", folder.key());
  return ok();
}

Status issue(const CaOptions& options) {
  const Result<KeyAndCertificate> authority = AuthorityFolder(options.folder).read();
  RETURN_IF_ERROR(authority.status());
  const bool is_node = !options.node.empty();
  const Result<KeyAndCertificate> made =
      is_node ? issue_for_node(authority.value(), options.node, options.days)
              : issue_for_server(authority.value(), options.names, options.days);
  RETURN_IF_ERROR(made.status());
  const AuthorityFolder folder(options.out.empty() ? options.folder : options.out);
  RETURN_IF_ERROR(folder.make());
  const std::string name = is_node ? options.node : "server-" + options.names.front();
  RETURN_IF_ERROR(folder.write_pair(name, made.value()));
  fmt::print("{}\n{}\n", folder.pair(name).certificate, folder.pair(name).key);
  return ok();
}

Status rotate(const CaOptions& options) {
  const AuthorityFolder folder(options.folder);
  const Result<KeyAndCertificate> made = make_authority();
  RETURN_IF_ERROR(made.status());
  RETURN_IF_ERROR(folder.rotate(made.value()));
  fmt::print("{}  has the new CA and the old one: both are believed\n", folder.certificate());
  fmt::print("{}  is the new one's: it issues from now on\n", folder.key());
  fmt::print("When all have a certificate of the new one: hai-server ca retire {}\n",
             options.folder);
  return ok();
}

Status retire(const CaOptions& options) {
  if (!options.nodes_have_renewed) {
    return failed_precondition(
        "nodes whose certificate is of the old CA would be shut out: say --nodes-have-renewed when "
        "`hai node identities` shows none that was issued before the new one");
  }
  const AuthorityFolder folder(options.folder);
  RETURN_IF_ERROR(folder.retire());
  fmt::print("{}  has only the CA that issues: the old one is believed no more\n",
             folder.certificate());
  return ok();
}

std::string what_for(const CertificateFacts& facts) {
  if (facts.is_authority) return "the CA";
  if (!facts.node.empty()) return "node " + facts.node;
  return fmt::format("server {}", fmt::join(facts.names, ", "));
}

// Of a server's or node's the first; of CAs, which are several while the CA is changed, all.
void show_file(const fs::path& path, const std::string& text) {
  fmt::print("{}\n", path.string());
  const std::vector<CertificateFacts> all = read_certificates(text);
  if (all.empty()) fmt::print("  no certificate in PEM\n");
  for (const CertificateFacts& facts : all) {
    if (facts.is_authority != all.front().is_authority) continue;
    fmt::print("  for      {}\n  until    {}\n  SHA-256  {}\n", what_for(facts),
               format_rfc3339(facts.ends), facts.fingerprint);
  }
}

Status show(const CaOptions& options) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(options.folder, error)) {
    if (entry.path().extension() == ".crt") paths.push_back(entry.path());
  }
  if (error) return not_found("cannot read {}: {}", options.folder, error.message());
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    const Result<std::string> text = read_whole_file(path);
    RETURN_IF_ERROR(text.status());
    show_file(path, text.value());
  }
  if (paths.empty()) return not_found("no certificate in {}", options.folder);
  return ok();
}

Status run_verb(const std::string& verb, const CaOptions& options) {
  if (verb == "init") return init(options);
  if (verb == "rotate") return rotate(options);
  if (verb == "retire") return retire(options);
  if (verb == "show") return show(options);
  if (options.node.empty() && options.names.empty()) {
    return invalid_argument("issue: say --server NAMES or --node NAME");
  }
  return issue(options);
}

void add_issue_options(CLI::App& app, CaOptions& options) {
  auto* server = app.add_option("--server", options.names,
                                "DNS names and addresses by which a server is reached")
                     ->delimiter(',');
  auto* node = app.add_option("--node", options.node, "name of a node, as in its agent's config");
  server->excludes(node);
  app.add_option("--days", options.days, "how long it holds")
      ->check(CLI::Range(1, kAuthorityDays))
      ->capture_default_str();
  app.add_option("--out", options.out, "folder to write to (default: DIR)");
}

}  // namespace

ServerCommand add_ca_command(CLI::App& app) {
  const auto options = std::make_shared<CaOptions>();
  CLI::App* ca = app.add_subcommand(
      "ca", "the certificate authority of a cluster, kept in a folder; needs no config");
  ca->require_subcommand(1);
  CLI::App* verbs[] = {
      ca->add_subcommand("init", "make one: ca.crt and ca.key"),
      ca->add_subcommand("issue", "a certificate with its key, for a server or a node"),
      ca->add_subcommand("show", "the certificates in the folder"),
      ca->add_subcommand("rotate", "make a new one, which issues from now on; both are believed"),
      ca->add_subcommand("retire", "after rotate: believe the old one no more"),
  };
  for (CLI::App* verb : verbs) verb->add_option("DIR", options->folder, "its folder")->required();
  add_issue_options(*verbs[1], *options);
  verbs[4]->add_flag("--nodes-have-renewed", options->nodes_have_renewed,
                     "no node is left whose certificate is of the old one");
  const auto run = [options, ca](const ServerConfig&) {
    const Status status = run_verb(ca->get_subcommands().front()->get_name(), *options);
    return status.is_ok() ? kExitOk : report_failure(status);
  };
  return {.app = ca, .run = run, .needs_config = false};
}

}  // namespace hai
