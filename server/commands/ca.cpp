// hai-server ca: the certificate authority of a cluster, a folder with its certificate and its key.
// Needs no config and no database.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "common/time.h"
#include "common/tls/authority.h"
#include "common/tls/certificate.h"
#include "server/commands/command.h"

namespace hai {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCertificate = "ca.crt";
constexpr const char* kKey = "ca.key";

struct Options {
  std::string folder;
  std::string out;  // "" = the folder
  std::vector<std::string> names;
  std::string node;
  int days = kCertificateDays;
};

// Never writes over a file: a key that is gone is gone for good.
Status write_new(const fs::path& path, const std::string& text, mode_t mode) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0 && errno == EEXIST) {
    return already_exists("{} is there already, and nothing is written over: move it away first",
                          path.string());
  }
  if (file < 0) return unavailable("cannot write {}: {}", path.string(), std::strerror(errno));
  const bool done = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                    ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  if (done) return ok();
  ::unlink(path.c_str());
  return unavailable("cannot write {}: {}", path.string(), std::strerror(error));
}

// Both or none.
Status write_pair(const fs::path& certificate, const fs::path& key, const KeyAndCertificate& pair) {
  RETURN_IF_ERROR(write_new(key, pair.key, 0600));
  const Status status = write_new(certificate, pair.certificate, 0644);
  if (!status.is_ok()) ::unlink(key.c_str());
  return status;
}

Status make_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return ok();
  if (::mkdir(folder.c_str(), 0755) == 0) return ok();
  return unavailable("cannot make the folder {}: {}", folder.string(), std::strerror(errno));
}

Result<std::string> read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return not_found("cannot read {}: {}", path.string(), std::strerror(errno));
  return text.str();
}

Result<KeyAndCertificate> read_authority(const fs::path& folder) {
  Result<std::string> certificate = read(folder / kCertificate);
  if (!certificate.is_ok()) return certificate.status();
  Result<std::string> key = read(folder / kKey);
  if (!key.is_ok()) return key.status();
  return KeyAndCertificate{.key = std::move(key).value(),
                           .certificate = std::move(certificate).value()};
}

Status init(const Options& options) {
  RETURN_IF_ERROR(make_folder(options.folder));
  const Result<KeyAndCertificate> made = make_authority();
  RETURN_IF_ERROR(made.status());
  const fs::path certificate = fs::path(options.folder) / kCertificate;
  const fs::path key = fs::path(options.folder) / kKey;
  RETURN_IF_ERROR(write_pair(certificate, key, made.value()));
  fmt::print("{}  for everybody: people, nodes and servers believe by it\n", certificate.string());
  fmt::print("{}  for nobody: whoever has it can be any server and any node\n", key.string());
  return ok();
}

Status issue(const Options& options) {
  const Result<KeyAndCertificate> authority = read_authority(options.folder);
  RETURN_IF_ERROR(authority.status());
  const bool is_node = !options.node.empty();
  const Result<KeyAndCertificate> made =
      is_node ? issue_for_node(authority.value(), options.node, options.days)
              : issue_for_server(authority.value(), options.names, options.days);
  RETURN_IF_ERROR(made.status());
  const fs::path folder = options.out.empty() ? options.folder : options.out;
  RETURN_IF_ERROR(make_folder(folder));
  const std::string name = is_node ? options.node : "server-" + options.names.front();
  RETURN_IF_ERROR(write_pair(folder / (name + ".crt"), folder / (name + ".key"), made.value()));
  fmt::print("{}\n{}\n", (folder / (name + ".crt")).string(), (folder / (name + ".key")).string());
  return ok();
}

std::string what_for(const CertificateFacts& facts) {
  if (facts.is_authority) return "the CA";
  if (!facts.node.empty()) return "node " + facts.node;
  return fmt::format("server {}", fmt::join(facts.names, ", "));
}

Status show(const Options& options) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(options.folder, error)) {
    if (entry.path().extension() == ".crt") paths.push_back(entry.path());
  }
  if (error) return not_found("cannot read {}: {}", options.folder, error.message());
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    const Result<std::string> text = read(path);
    RETURN_IF_ERROR(text.status());
    const Result<CertificateFacts> facts = read_certificate(text.value());
    if (!facts.is_ok()) {
      fmt::print("{}\n  {}\n", path.string(), facts.status().message());
      continue;
    }
    fmt::print("{}\n  for      {}\n  until    {}\n  SHA-256  {}\n", path.string(),
               what_for(facts.value()), format_rfc3339(facts.value().ends),
               facts.value().fingerprint);
  }
  if (paths.empty()) return not_found("no certificate in {}", options.folder);
  return ok();
}

void add_issue_options(CLI::App& app, Options& options) {
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
  const auto options = std::make_shared<Options>();
  CLI::App* ca = app.add_subcommand(
      "ca", "the certificate authority of a cluster, kept in a folder; needs no config");
  ca->require_subcommand(1);
  CLI::App* verbs[] = {
      ca->add_subcommand("init", "make one: ca.crt and ca.key"),
      ca->add_subcommand("issue", "a certificate with its key, for a server or a node"),
      ca->add_subcommand("show", "the certificates in the folder"),
  };
  for (CLI::App* verb : verbs) verb->add_option("DIR", options->folder, "its folder")->required();
  add_issue_options(*verbs[1], *options);
  const auto run = [options, is_init = verbs[0], is_issue = verbs[1]](const ServerConfig&) {
    if (is_issue->parsed() && options->node.empty() && options->names.empty()) {
      return report_failure(invalid_argument("issue: say --server NAMES or --node NAME"));
    }
    const Status status = is_init->parsed()    ? init(*options)
                          : is_issue->parsed() ? issue(*options)
                                               : show(*options);
    return status.is_ok() ? kExitOk : report_failure(status);
  };
  return {.app = ca, .run = run, .needs_config = false};
}

}  // namespace hai
