#include "server/setup/setup_plan.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <tuple>

#include "common/config/yaml_text.h"
#include "common/host_port.h"
#include "common/whole_file.h"
#include "server/setup/bundle.h"
#include "server/setup/setup_files.h"
#include "server/store/conninfo.h"

namespace hai {
namespace {

namespace fs = std::filesystem;

std::string advertise_text(const std::string& name, const std::string& grpc_port,
                           const std::string& http_port) {
  return fmt::format("advertise:\n  grpc: {}\n  http: {}\n",
                     quoted_yaml(with_port(name, grpc_port)),
                     quoted_yaml(with_port(name, http_port)));
}

constexpr const char* kEverywhere = "0.0.0.0";
// In plain text and for anybody who reaches it: this machine, until the site says otherwise.
constexpr const char* kThisMachine = "127.0.0.1";

// `present` with the host and the port that were told; where there is no host, at `standard`.
// "" = there is no port.
std::string listen_address(const std::string& host, const std::string& port,
                           const std::string& present, const char* standard) {
  const HostPort known = split_host_port(present);
  const std::string& at_port = port.empty() ? known.port : port;
  if (at_port.empty()) return "";
  const std::string& at = host.empty() ? known.host : host;
  return with_port(at.empty() ? standard : at, at_port);
}

std::string listen_text(const SetupOptions& told, const ServerConfig& present) {
  const std::string host = plain_address(told.listen);
  const std::pair<const char*, std::string> parts[] = {
      {"grpc", listen_address(host, told.grpc_port, present.grpc_address, kEverywhere)},
      {"http", listen_address(host, told.http_port, present.http_address, kEverywhere)},
      {"services", listen_address(host, told.services_port, present.services_address, kEverywhere)},
      {"health", listen_address("", told.health_port, present.health_address, kThisMachine)}};
  std::string text = "listen:\n";
  for (const auto& [name, at] : parts) {
    if (!at.empty()) text += fmt::format("  {}: {}\n", name, quoted_yaml(at));
  }
  return text;
}

Result<UnixUser> user_for(const SetupOptions& options) {
  if (options.user.empty()) return own_unix_user();
  Result<UnixUser> user = find_unix_user(options.user);
  if (!user.is_ok()) {
    return failed_precondition(
        "{}: install the package hai-server, make it by `adduser --system --group {}`, or say "
        "--user",
        user.status().message(), options.user);
  }
  if (user.value().uid != ::geteuid() && ::geteuid() != 0) {
    return permission_denied("--user {}: only root sets a server up for another user",
                             options.user);
  }
  return user;
}

std::string socket_of(const std::string& conninfo) {
  Result<std::map<std::string, std::string>> words = parse_conninfo(conninfo);
  return words.is_ok() ? words.value()["host"] : "";
}

// Flags that say something else than a config that is there are a mistake: it stays as it is.
Status check_agrees(const SetupOptions& options, const ServerConfig& config) {
  const std::tuple<const char*, std::string, std::string> pairs[] = {
      {"--cluster", options.cluster, config.cluster},
      {"--database", options.database, config.conninfo},
      {"--postgres-socket", options.postgres_socket, socket_of(config.conninfo)},
      {"--grpc-port", options.grpc_port, split_host_port(config.grpc_address).port},
      {"--http-port", options.http_port, split_host_port(config.http_address).port},
      {"--services-port", options.services_port, split_host_port(config.services_address).port},
      {"--health-port", options.health_port, split_host_port(config.health_address).port},
      {"--listen", plain_address(options.listen), split_host_port(config.grpc_address).host},
      {"--admin", options.admin, config.admin_user},
      {"--authority", options.authority, config.authority},
      {"--certificate", options.certificate, config.tls.certificate},
      {"--key", options.key, config.tls.key}};
  for (const auto& [option, told, known] : pairs) {
    if (told.empty() || told == known) continue;
    const bool is_conninfo = std::string_view(option) == "--database";
    return invalid_argument(
        "{}: {} is there already and says '{}': leave the flag out, or change it there", option,
        options.config, is_conninfo ? shown_conninfo(known) : known);
  }
  const std::string advertised = split_host_port(config.advertise.grpc).host;
  if (options.names.empty() || std::ranges::count(options.names, advertised) > 0) return ok();
  return invalid_argument(
      "--names: {} is there already and says '{}', the name that others are told: name that, too, "
      "or change it there",
      options.config, advertised);
}

Result<SetupPlan> plan_with_config(const SetupOptions& options, SetupPlan plan) {
  Result<ServerConfig> config = read_server_config(plan.path);
  RETURN_IF_ERROR(config.status());
  plan.config = std::move(config).value();
  RETURN_IF_ERROR(check_agrees(options, plan.config));
  plan.is_resumed = is_unfinished(plan.folder);
  const Result<std::string> id = read_cluster_id(plan.folder);
  plan.mark = {.id = id.is_ok() ? id.value() : make_cluster_id(), .cluster = plan.config.cluster};
  plan.checks_names = !options.names.empty();
  plan.names = options.names;
  if (plan.names.empty()) plan.names = {split_host_port(plan.config.advertise.grpc).host};
  return plan;
}

// What the first server listens at, if it is one address, is not this machine's.
Status check_listens_here(const ServerConfig& config) {
  for (const std::string* address :
       {&config.grpc_address, &config.http_address, &config.services_address}) {
    const std::string host = split_host_port(*address).host;
    if (host.empty() || is_wildcard(host) || is_loopback(host)) continue;
    return failed_precondition(
        "the first server listens at {} alone: say by --listen at which address this one does",
        host);
  }
  return ok();
}

// `told`: the options before they were completed.
Result<SetupPlan> plan_with_bundle(const SetupOptions& told, const SetupOptions& options,
                                   SetupPlan plan) {
  const Result<std::string> text = read_file_or_input(options.bundle);
  RETURN_IF_ERROR(text.status());
  const Result<Bundle> bundle = parse_bundle(text.value());
  RETURN_IF_ERROR(bundle.status());
  const Result<std::string> id = read_cluster_id(plan.folder);
  if (id.is_ok() && id.value() != bundle.value().mark.id) {
    return failed_precondition(
        "{} has the files of another cluster: say another --config, or move that folder away",
        plan.folder);
  }
  if (is_file(plan.path)) {
    if (!id.is_ok()) {
      return failed_precondition("{} is there already, of no known cluster: move it away first",
                                 plan.path);
    }
    return plan_with_config(told, std::move(plan));
  }
  plan.text = further_config_text(bundle.value().config, options, plan.folder);
  Result<ServerConfig> config = parse_server_config(plan.text, "the config in the bundle");
  RETURN_IF_ERROR(config.status());
  plan.config = std::move(config).value();
  RETURN_IF_ERROR(check_conninfo(plan.config.conninfo, "store.conninfo of the bundle"));
  if (options.listen.empty()) RETURN_IF_ERROR(check_listens_here(plan.config));
  plan.mark = bundle.value().mark;
  for (const auto& [path, content] : bundle.value().files) {
    plan.files[plan.folder + "/" + path] = content;
  }
  plan.checks_names = true;
  plan.names = options.names;
  return plan;
}

// What no other user and no shell's history shall see. "-": of a terminal unseen.
Result<std::string> read_password(const std::string& from) {
  if (from.empty()) return std::string();
  std::string text;
  if (from == "-" && ::isatty(STDIN_FILENO) == 1) {
    const char* typed = ::getpass("Password of the database's user (it is not shown): ");
    text = typed == nullptr ? "" : typed;
  } else if (from == "-") {
    std::getline(std::cin, text);
  } else {
    Result<std::string> read = read_whole_file(from);
    RETURN_IF_ERROR(read.status());
    text = read.value().substr(0, read.value().find('\n'));
  }
  if (!text.empty()) return text;
  return invalid_argument("--database-password: the first line is empty");
}

// Of a passfile, where : and \ have a meaning.
std::string passfile_word(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

Status plan_passfile(const std::string& conninfo, const std::string& password, SetupPlan& plan) {
  const std::string path = passfile_of(conninfo);
  if (!path.starts_with(plan.folder + "/")) {
    return invalid_argument("--database-password: --database must say passfile={}/pgpass",
                            plan.folder);
  }
  Result<std::map<std::string, std::string>> words = parse_conninfo(conninfo);
  RETURN_IF_ERROR(words.status());
  const auto word = [&](const char* key) {
    const std::string& said = words.value()[key];
    return said.empty() ? std::string("*") : passfile_word(said);
  };
  plan.files[path] =
      fmt::format("*:*:{}:{}:{}\n", word("dbname"), word("user"), passfile_word(password));
  return ok();
}

Result<SetupPlan> plan_of_new(SetupOptions options, const std::string& password, SetupPlan plan) {
  plan.is_founding = true;
  std::string conninfo = options.database;
  if (conninfo.empty()) {
    if (::geteuid() != 0) {
      return failed_precondition(
          "a database on this machine is made by root: be root, or name one that is there: "
          "--database");
    }
    plan.local =
        LocalDatabase{.socket = options.postgres_socket, .role = plan.user.name, .name = "hai"};
    conninfo = conninfo_of(*plan.local);
  }
  if (!password.empty()) RETURN_IF_ERROR(plan_passfile(conninfo, password, plan));
  plan.text = new_config_text(options, plan.folder, conninfo);
  Result<ServerConfig> config = parse_server_config(plan.text, "the config to be written");
  RETURN_IF_ERROR(config.status());
  plan.config = std::move(config).value();
  const Result<std::string> id = read_cluster_id(plan.folder);
  plan.mark = {.id = id.is_ok() ? id.value() : make_cluster_id(), .cluster = options.cluster};
  plan.checks_names = true;
  plan.names = options.names;
  return plan;
}

}  // namespace

std::string new_config_text(const SetupOptions& options, const std::string& folder,
                            const std::string& conninfo) {
  const std::string authority = options.authority.empty() ? folder + "/ca" : options.authority;
  const bool is_issued = options.certificate.empty();
  const std::string certificate = is_issued ? folder + "/server.crt" : options.certificate;
  // The package has a folder for it.
  const std::string archive =
      folder == "/etc/hai" ? std::string("/var/lib/hai/archive") : folder + "/archive";
  return fmt::format(
      "# Written by hai-server setup, and yours from here on. All keys: docs/operations,\n"
      "# deploy/server.yaml. `hai-server --check-config` says what is wrong.\n"
      "cluster: {}\n"
      "{}{}"
      "tls:\n  certificate: {}\n  key: {}\n  client_ca: {}\n  authority: {}\n"
      "store:\n  conninfo: {}\n"
      "bootstrap:\n  admin_user: {}\n  admin_token_file: {}\n"
      "secrets:\n  key_file: {}\n"
      "# Taken out of the database by hai-archive.timer, or `hai-server archive`.\n"
      "archive:\n  older_than: 90d\n  audit_older_than: 365d\n  dir: {}\n"
      "# Everybody may use all nodes, until `hai quota set` says otherwise.\n"
      "default_quota_nodes: unlimited\n",
      quoted_yaml(options.cluster), listen_text(options, ServerConfig{}),
      advertise_text(options.names.front(), options.grpc_port, options.http_port),
      quoted_yaml(certificate), quoted_yaml(is_issued ? folder + "/server.key" : options.key),
      quoted_yaml(authority + "/ca.crt"), quoted_yaml(authority), quoted_yaml(conninfo),
      quoted_yaml(options.admin), quoted_yaml(folder + "/admin.token"),
      quoted_yaml(folder + "/secrets.key"), quoted_yaml(archive));
}

std::string further_config_text(const std::string& bundled, const SetupOptions& options,
                                const std::string& folder) {
  std::string text = bundled;
  for (size_t at = text.find(kBundleFolder); at != std::string::npos;
       at = text.find(kBundleFolder, at + folder.size())) {
    text.replace(at, kBundleFolder.size(), folder);
  }
  // The first administrator is there already.
  text = with_section(text, "bootstrap", "");
  if (!options.database.empty()) {
    text = with_section(text, "store",
                        fmt::format("store:\n  conninfo: {}\n", quoted_yaml(options.database)));
  }
  const Result<ServerConfig> config = parse_server_config(text, "the config in the bundle");
  if (!config.is_ok()) return text;  // whoever parses it next says what is wrong
  const auto port = [](const std::string& told, const std::string& address) {
    return told.empty() ? split_host_port(address).port : told;
  };
  const std::string grpc = port(options.grpc_port, config.value().grpc_address);
  const std::string http = port(options.http_port, config.value().http_address);
  if (!options.grpc_port.empty() || !options.http_port.empty() || !options.services_port.empty() ||
      !options.health_port.empty() || !options.listen.empty()) {
    text = with_section(text, "listen", listen_text(options, config.value()));
  }
  return with_section(text, "advertise", advertise_text(options.names.front(), grpc, http));
}

Result<SetupPlan> make_setup_plan(SetupOptions options) {
  SetupPlan plan{.path = fs::absolute(options.config).string()};
  plan.folder = fs::path(plan.path).parent_path().string();
  const bool has_config = is_file(plan.path) && options.bundle.empty();
  const SetupOptions told = options;
  RETURN_IF_ERROR(check_options(options));
  const Result<std::string> password = read_password(has_config ? "" : options.database_password);
  RETURN_IF_ERROR(password.status());
  if (!has_config) {
    RETURN_IF_ERROR(complete_options(options));
    RETURN_IF_ERROR(check_options(options));  // the answers, too
  } else if (options.user.empty() && ::geteuid() == 0) {
    options.user = kSystemUser;
  }
  Result<UnixUser> user = user_for(options);
  RETURN_IF_ERROR(user.status());
  plan.user = std::move(user).value();
  plan.nodes = options.nodes;
  if (has_config) return plan_with_config(options, std::move(plan));
  if (!options.bundle.empty()) return plan_with_bundle(told, options, std::move(plan));
  return plan_of_new(std::move(options), password.value(), std::move(plan));
}

}  // namespace hai
