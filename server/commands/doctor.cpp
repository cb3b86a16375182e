// hai-server doctor: what of this server's setup is wrong, and what to do. Changes nothing.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "common/doctor/look.h"
#include "common/host_port.h"
#include "common/machine/bounded_child.h"
#include "common/machine/systemd_unit.h"
#include "common/tls/certificate.h"
#include "common/version.h"
#include "common/whole_file.h"
#include "server/commands/command.h"
#include "server/setup/database_check.h"
#include "server/setup/setup.h"
#include "server/setup/unix_user.h"

namespace hai {
namespace {

struct DoctorOptions {
  std::string format = "table";
  std::string user;  // "" = the unit's or the system's, if root asks and there is one
};

// Whom the unit runs the server as: a site may have said so in a drop-in. "" = not known.
std::string user_of_unit() {
  if (!has_systemd()) return "";
  const std::string key = "\nUser=";
  const std::string text =
      "\n" + run_command({"systemctl", "show", "--property=User", kServerUnit}, {}).text;
  const size_t begin = text.find(key);
  if (begin == std::string::npos) return "";
  const size_t end = text.find('\n', begin + 1);
  return text.substr(begin + key.size(), end - begin - key.size());
}

// What the server sees is what its user sees.
Result<UnixUser> server_user(const DoctorOptions& options, const std::string& path) {
  if (!options.user.empty()) {
    Result<UnixUser> told = find_unix_user(options.user);
    if (told.is_ok()) return told;
    return invalid_argument("--user: {}", told.status().message());
  }
  UnixUser own{.name = "", .home = "", .uid = ::geteuid(), .gid = ::getegid()};
  if (own.uid != 0) return own;
  const std::string name = path == kServerUnitConfig ? user_of_unit() : "";
  Result<UnixUser> user = find_unix_user(name.empty() ? kSystemUser : name);
  return user.is_ok() ? std::move(user).value() : own;
}

std::vector<Finding> look_as(const UnixUser& user,
                             const std::function<std::vector<Finding>()>& look) {
  const auto work = [&]() -> Result<std::string> { return format_findings(look()); };
  const Result<std::string> text = run_as(user, work, 8s);
  if (!text.is_ok()) return {failure(text.status().message(), "run it as root")};
  const Result<std::vector<Finding>> findings = parse_findings(text.value());
  if (findings.is_ok()) return findings.value();
  return {failure(findings.status().message(), "report it")};
}

std::vector<Finding> look_at_files(const ServerConfig& config, const std::string& path) {
  std::vector<Finding> findings;
  for (const auto& [key, status] : config_problems(config)) {
    // The database has a check of its own.
    if (std::string_view(key) == "store.conninfo") continue;
    findings.push_back(failure(fmt::format("{}: {}: {}", path, key, status.message()),
                               "put it right and start the server"));
  }
  if (findings.empty()) findings.push_back(all_well("all that " + path + " names is there"));
  return findings;
}

// The name that others are told, and those of the certificate that is there.
std::string names_to_renew(const ServerConfig& config) {
  std::string names = split_host_port(config.advertise.grpc).host;
  const Result<std::string> text = read_whole_file(config.tls.certificate);
  const Result<CertificateFacts> known = read_certificate(text.is_ok() ? text.value() : "");
  if (!known.is_ok()) return names;
  const std::string first = names;
  for (const std::string& name : known.value().names) {
    if (name != first) names += "," + name;
  }
  return names;
}

std::vector<Finding> look_at_certificates(const ServerConfig& config) {
  const std::string again =
      config.authority.empty()
          ? "put a new one in its place"
          : fmt::format(
                "move it and its key away, and `hai-server setup --names {}` issues another one",
                names_to_renew(config));
  std::vector<Finding> findings = look_at_certificate(
      config.tls.certificate, {split_host_port(config.advertise.grpc).host}, again);
  for (Finding& finding :
       look_at_certificate(config.tls.ca, {}, "`hai-server ca rotate`: docs/operations/tls.md")) {
    findings.push_back(std::move(finding));
  }
  return findings;
}

// As others reach it: by the address that they are told.
std::vector<Finding> look_at_ports(const ServerConfig& config) {
  std::string ca;
  if (!config.tls.certificate.empty()) {
    const Result<std::string> file = ca_that_vouches(config.tls);
    const Result<std::string> text = file.is_ok() ? read_whole_file(file.value()) : file;
    if (!text.is_ok()) return {failure(text.status().message(), "put it right")};
    ca = text.value();
  }
  const std::string remedy =
      "does hai-server run (`systemctl status hai-server`), does the name lead here, does a "
      "firewall stand between?";
  return {look_at_port({config.advertise.grpc, ca, true, remedy}),
          look_at_port({config.advertise.http, ca, false, remedy})};
}

std::vector<std::string> folders_of(const ServerConfig& config, const std::string& path) {
  const auto above = [](const std::string& file) {
    return file.empty() ? "" : std::filesystem::path(file).parent_path().string();
  };
  return {above(path), config.archive_dir, above(config.audit.file), above(config.log_file)};
}

std::vector<DoctorCheck> checks_of(const ServerConfig& config, const std::string& path,
                                   const UnixUser& user) {
  std::vector<DoctorCheck> checks{
      {"version", [] { return std::vector{all_well("hai-server " + std::string(version()))}; }},
      {"files", [&] { return look_as(user, [&] { return look_at_files(config, path); }); }},
      {"certificate", [&] { return look_at_certificates(config); }},
      {"database",
       [&] {
         return look_as(user, [&] {
           const Result<std::string> id = cluster_beside(path);
           if (id.is_ok()) return look_at_database_health(config.conninfo, id.value());
           return std::vector{failure(id.status().message(),
                                      "put back what was in it, from a backup of /etc/hai or "
                                      "another server's")};
         });
       }},
      {"port", [&] { return look_at_ports(config); }},
      {"clock", look_at_clock},
      {"disk", [&] { return look_at_disks(folders_of(config, path)); }}};
  if (path == kServerUnitConfig) {
    checks.push_back({"unit", [] { return look_at_unit(kServerUnit); }});
    checks.push_back({"account", [] {
                        return std::vector{look_at_account(
                            kSystemUser, "install the package hai-server, which makes it")};
                      }});
  }
  return checks;
}

int doctor(const std::string& path, const DoctorOptions& options) {
  const Result<UnixUser> user = server_user(options, path);
  if (!user.is_ok()) return report_failure(user.status());
  std::vector<Finding> findings;
  const Result<ServerConfig> config = read_server_config(path);
  if (config.is_ok()) {
    findings = run_checks("server", checks_of(config.value(), path, user.value()));
  } else {
    findings = {failure(config.status().message(), "`hai-server setup` makes one")};
    findings.front().part = "server";
    findings.front().check = "config";
  }
  fmt::print("{}",
             options.format == "json" ? format_findings(findings) : describe_findings(findings));
  return exit_code_of(findings);
}

}  // namespace

ServerCommand add_doctor_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "doctor", "look what of this server's setup is wrong, and say what to do; 1 if anything is");
  const auto options = std::make_shared<DoctorOptions>();
  command->add_option("-o,--output", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->add_option("--user", options->user,
                      "Unix user of the server (default: the unit's, or hai)");
  const auto run = [options, &app](const ServerConfig&) {
    return doctor(app.get_option("--config")->as<std::string>(), *options);
  };
  return {.app = command, .run = run, .needs_config = false};
}

}  // namespace hai
