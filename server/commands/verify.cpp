// hai-server verify: do log, rows and the state of the server at work tell the same story?

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/config/token_file.h"
#include "common/tls/tls_files.h"
#include "server/commands/command.h"
#include "server/commands/http_get.h"
#include "server/commands/progress.h"
#include "server/store/verify.h"

namespace hai {
namespace {

struct VerifyCommandOptions {
  std::string archive_dir;
  std::string live;
  std::string token_file;
  std::string ca;
  bool quiet = false;
};

// All servers of a cluster speak TLS, or none does. With a CA the token leaves only over TLS.
Result<std::string> ca_for(const VerifyCommandOptions& options, const ServerConfig& config) {
  const bool is_plain = config.tls.certificate.empty() || options.live.starts_with("http://");
  if (!options.ca.empty() || is_plain) return options.ca;
  return ca_that_vouches(config.tls);
}

// Asked before the log is read, so that the log has every event that the digest covers.
Result<LiveDigest> ask_leader(const VerifyCommandOptions& options, const ServerConfig& config) {
  const std::string& path =
      options.token_file.empty() ? config.admin_token_file : options.token_file;
  if (path.empty()) return invalid_argument("--live needs --token-file: the token of an admin");
  Result<std::string> token = read_token_file(path);
  if (!token.is_ok()) return token.status();
  const Result<std::string> ca = ca_for(options, config);
  if (!ca.is_ok()) return ca.status();
  Result<std::string> body = http_get({.server = options.live,
                                       .target = "/api/v1/digest",
                                       .token = token.value(),
                                       .ca = ca.value()});
  if (!body.is_ok()) return body.status();
  const auto json = nlohmann::json::parse(body.value(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("seq") || !json["seq"].is_number_integer() ||
      !json.contains("digest") || !json["digest"].is_string()) {
    return unavailable("{}: not the answer of a hai-server: {}", options.live,
                       body.value().substr(0, 200));
  }
  return LiveDigest{json["seq"].get<int64_t>(), json["digest"].get<std::string>()};
}

void print_audit(const LedgerReport& report) {
  fmt::print("audit     {} entries", report.audit_entries);
  if (report.archived_audit_entries > 0) {
    fmt::print(", {} of them archived", report.archived_audit_entries);
  }
  fmt::print("\n");
}

void print_report(const LedgerReport& report, const std::optional<LiveDigest>& live) {
  fmt::print("log       {} events, 1 to {}", report.events, report.last_seq);
  if (report.archived_events > 0) fmt::print(", {} of them archived", report.archived_events);
  fmt::print("\nrows      {} jobs", report.jobs);
  if (report.archived_jobs > 0) fmt::print(" ({} archived)", report.archived_jobs);
  fmt::print(
      ", {} attempts, {} ranks, {} nodes, {} users, {} quotas, {} tokens, {} "
      "secrets, {} identities, {} knobs, {} incidents\n",
      report.attempts, report.ranks, report.nodes, report.users, report.quotas, report.tokens,
      report.secrets, report.identities, report.knobs, report.incidents);
  print_audit(report);
  fmt::print("digest    {} after event {}\n", report.digest, report.last_seq);
  if (live) fmt::print("server    {} after event {}\n", live->digest, live->seq);
  if (report.unread_audit_entries > 0) {
    fmt::print(
        "UNREAD    entries 1 to {} of the audit log are archived and were not looked at: name "
        "the folder of the files with --archive\n",
        report.unread_audit_entries);
  } else if (report.differences.empty()) {
    fmt::print("ok        log{} rows{} agree\n", live ? "," : " and", live ? " and server" : "");
  }
  for (const std::string& name : report.foreign_files) {
    fmt::print(
        "NOT READ  {}: the database knows nothing of it; it is of another cluster, or of what a "
        "restore took back\n",
        name);
  }
  for (const std::string& difference : report.differences) fmt::print("WRONG     {}\n", difference);
  const int64_t more = report.difference_count - std::ssize(report.differences);
  if (more > 0) fmt::print("WRONG     and {} more\n", more);
}

int run(const VerifyCommandOptions& options, const ServerConfig& config) {
  VerifyOptions verify{.archive_dir = options.archive_dir};
  if (!options.live.empty()) {
    Result<LiveDigest> live = ask_leader(options, config);
    if (!live.is_ok()) return report_failure(live.status());
    verify.live = live.value();
  }
  Progress progress("events");
  if (!options.quiet) verify.progress = std::ref(progress);
  Result<LedgerReport> report = verify_ledger(config.conninfo, verify);
  if (!report.is_ok()) return report_failure(report.status());
  print_report(report.value(), verify.live);
  const bool is_all_right =
      report.value().differences.empty() && report.value().unread_audit_entries == 0;
  return is_all_right ? kExitOk : kExitError;
}

}  // namespace

ServerCommand add_verify_command(CLI::App& app) {
  auto options = std::make_shared<VerifyCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "verify",
      "rebuild everything from the event log and compare it with all rows: exit code 0 if they"
      " agree, 1 if not or if archived entries of the audit log were not looked at. Reads in one "
      "snapshot, holds nobody up");
  command->add_option("--archive", options->archive_dir,
                      "folder with the archived beginning of the log, jobs and audit entries");
  command->add_option("--live", options->live,
                      "HTTP address of the leading server, host:port, by a name of its certificate "
                      "if the config has tls: compare its memory, too");
  command->add_option("--token-file", options->token_file,
                      "an admin's token for --live (default: bootstrap.admin_token_file)");
  command->add_option("--ca", options->ca,
                      "CA of the server (default: the config's tls.client_ca if it has issued the "
                      "server's certificate, else those that this machine believes)");
  command->add_flag("-q,--quiet", options->quiet, "no progress on stderr");
  return {command, [options](const ServerConfig& config) { return run(*options, config); }};
}

}  // namespace hai
