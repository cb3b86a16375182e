// The config files of hai-server and hai-agent: everything wrong with one is said at once.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "agent/agent_config.h"
#include "common/whole_file.h"
#include "server/server_config.h"

namespace hai {
namespace {

TEST(ServerConfig, ReadsEverything) {
  Result<ServerConfig> config = parse_server_config(R"(
cluster: fire
listen: {grpc: "10.0.0.1:7700", http: "[::1]:80"}
plain_text: true
status_page: true
web_root: /srv/web
store: {conninfo: dbname=hai}
migrate_on_start: true
bootstrap: {admin_user: ann, admin_token_file: /etc/token}
agent_token_file: /etc/agent
default_quota_nodes: unlimited
secrets: {key_file: /etc/key, old_key_files: [/etc/older, /etc/oldest]}
visibility: team
knobs: {heartbeat: 1s}
logs: {store: /shared/logs, keep: 7d, user_max: 5Gi, sweep_every: 1m}
archive: {older_than: 90d, dir: /var/lib/hai/archive, audit_older_than: 365d}
audit: {file: /var/log/hai/audit.jsonl, syslog: true, position: /var/lib/hai/audit.position}
log: {level: debug, file: /var/log/hai}
)",
                                                    "server.yaml");
  ASSERT_TRUE(config.is_ok()) << config.status().message();
  EXPECT_EQ(config.value().cluster, "fire");
  EXPECT_EQ(config.value().grpc_address, "10.0.0.1:7700");
  EXPECT_EQ(config.value().http_address, "[::1]:80");
  EXPECT_TRUE(config.value().status_page);
  EXPECT_EQ(config.value().web_root, "/srv/web");
  EXPECT_EQ(config.value().admin_user, "ann");
  EXPECT_EQ(config.value().secrets_key_file, "/etc/key");
  EXPECT_EQ(config.value().secrets_old_key_files.size(), 2u);
  EXPECT_EQ(config.value().visibility, Visibility::team);
  EXPECT_GE(config.value().default_quota_nodes.value_or(0), 1'000'000);
  EXPECT_EQ(config.value().knobs.heartbeat, Duration(1s));
  EXPECT_EQ(config.value().archive_older_than, "90d");
  EXPECT_EQ(config.value().archive_dir, "/var/lib/hai/archive");
  EXPECT_EQ(config.value().log_store.path, "/shared/logs");
  EXPECT_EQ(config.value().log_store.cluster, "fire");
  EXPECT_EQ(config.value().log_store.rules.keep, Duration(24h * 7));
  EXPECT_EQ(config.value().log_store.rules.user_bytes, int64_t{5} << 30);
  EXPECT_EQ(config.value().log_store.sweep_every, Duration(1min));
  EXPECT_EQ(config.value().archive_audit_older_than, "365d");
  EXPECT_EQ(config.value().audit.file, "/var/log/hai/audit.jsonl");
  EXPECT_TRUE(config.value().audit.syslog);
  EXPECT_EQ(config.value().audit.position, "/var/lib/hai/audit.position");
  EXPECT_EQ(config.value().log_level, LogLevel::debug);
}

TEST(ServerConfig, TellsOthersWhereItIsReached) {
  const auto advertised = [](const std::string& lines) {
    const Result<ServerConfig> config = parse_server_config(
        lines + "plain_text: true\nstore: {conninfo: x}\nagent_token_file: /t\n", "s");
    EXPECT_TRUE(config.is_ok()) << config.status().message();
    return config.is_ok() ? config.value().advertise : ServerAddresses{};
  };
  EXPECT_EQ(advertised("listen: {grpc: \"10.0.0.1:7700\", http: \"127.0.0.1:0\"}\n"),
            (ServerAddresses{.grpc = "10.0.0.1:7700", .http = ""}))
      << "a port that is still to be chosen cannot be told";
  EXPECT_EQ(advertised("advertise: {grpc: \"s1:1\", http: \"s1:2\"}\n"),
            (ServerAddresses{.grpc = "s1:1", .http = "s1:2"}));
  const std::string everywhere = advertised("listen: {grpc: \"0.0.0.0:7700\"}\n").grpc;
  EXPECT_TRUE(everywhere.ends_with(":7700") && !everywhere.starts_with("0.0.0.0")) << everywhere;
}

TEST(ServerConfig, AllErrorsWithTheirLines) {
  Result<ServerConfig> config = parse_server_config(
      "listen: {grpc: nowhere}\ndefault_quota_nodes: many\nlog: {level: loud}\nstor: x\n", "s");
  ASSERT_FALSE(config.is_ok());
  const std::string& text = config.status().message();
  for (const char* part :
       {"line 1: listen.grpc", "line 2: default_quota_nodes", "line 3: log.level",
        "line 4: stor: unknown key", "store.conninfo", "agent_token_file"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(ServerConfig, SaysHowPeopleComeIn) {
  const auto read = [](const std::string& lines) {
    return parse_server_config(
        "plain_text: true\nstore: {conninfo: x}\nagent_token_file: /t\n" + lines, "s");
  };
  const ServerConfig plain = read("").value();
  EXPECT_EQ(plain.token_ttl, Duration(24h * 90));
  EXPECT_FALSE(plain.munge_socket);
  EXPECT_EQ(read("munge: true\n").value().munge_socket, "");
  EXPECT_FALSE(read("munge: false\n").value().munge_socket);
  EXPECT_EQ(read("munge: /run/m\nmunge_create_users: true\n").value().munge_socket, "/run/m");
  EXPECT_EQ(read("tokens: {ttl: 1d, ttl_max: 2d}\n").value().token_ttl_max, Duration(48h));
  for (const char* wrong : {"tokens: {ttl: 59s}", "tokens: {ttl_max: 11y}", "tokens: {ttl: 400d}",
                            "munge: perhaps", "munge_create_users: true", "streams_per_user: 0"}) {
    EXPECT_FALSE(read(wrong).is_ok()) << wrong;
  }
}

TEST(ServerConfig, SlipsInArchiveAndAuditAreErrors) {
  for (const auto& [lines, error] :
       {std::pair("archive: {audit_older_than: soon}\n", "archive.audit_older_than"),
        std::pair("archive: {older_than: soon}\n", "archive.older_than"),
        std::pair("audit: {position: /p}\n", "audit.position: needs audit.file or audit.syslog"),
        std::pair("audit: {file: /a, position: /a}\n", "audit.position: is the same file")}) {
    const Status status =
        parse_server_config(
            std::string("plain_text: true\nstore: {conninfo: x}\nagent_token_file: /t\n") + lines,
            "s")
            .status();
    EXPECT_NE(status.message().find(error), std::string::npos) << lines << status.message();
  }
}

TEST(ServerConfig, ASlipInWhatIsSecretIsAnError) {
  const auto error = [](const std::string& lines) {
    return std::string(
        parse_server_config(
            "plain_text: true\nstore: {conninfo: x}\nagent_token_file: /t\n" + lines, "s")
            .status()
            .message());
  };
  EXPECT_EQ(error(""), "");
  EXPECT_NE(error("visibility: none\n").find("visibility"), std::string::npos);
  EXPECT_NE(error("secrets: {key_file: ''}\n").find("secrets.key_file"), std::string::npos);
  EXPECT_NE(error("secrets: {keyfile: /k}\n").find("unknown key"), std::string::npos);
  EXPECT_NE(error("secrets: {old_key_files: [/k]}\n").find("needs secrets.key_file"),
            std::string::npos);
}

TEST(ServerConfig, AnIdentityProviderIsAskedOverTls) {
  const auto read = [](const std::string& oidc) {
    return parse_server_config(
        "plain_text: true\nstore: {conninfo: x}\nagent_token_file: /t\noidc: " + oidc, "s");
  };
  const Result<ServerConfig> config = read(
      "{issuer: \"https://id.example\", client_id: hai, admin_groups: [a, b], create_users: "
      "false}");
  ASSERT_TRUE(config.is_ok()) << config.status().message();
  EXPECT_EQ(config.value().oidc.issuer, "https://id.example");
  EXPECT_EQ(config.value().oidc.admin_groups, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config.value().oidc.user_claim, "preferred_username");
  EXPECT_FALSE(config.value().oidc.create_users);
  EXPECT_TRUE(read("{issuer: \"http://127.0.0.1:3000\", client_id: hai}").is_ok());
  for (const auto& [oidc, error] :
       {std::pair("{}", "oidc.issuer"), std::pair("{issuer: \"https://id\"}", "oidc.client_id"),
        std::pair("{issuer: \"http://id.example\", client_id: hai}", "must be https://"),
        std::pair("{issuer: \"https://id?a=b\", client_id: hai}", "has no ?"),
        std::pair("{issuer: \"https://id\", client_id: hai, scopes: [profile]}", "openid"),
        std::pair("{issuer: \"https://id\", client_id: hai, redirect_url: \"x\"}", "redirect_url"),
        std::pair("{issuer: \"https://id\", client_id: hai, client_secret: x}", "unknown key")}) {
    const Result<ServerConfig> bad = read(oidc);
    ASSERT_FALSE(bad.is_ok()) << oidc;
    EXPECT_NE(bad.status().message().find(error), std::string::npos) << bad.status().message();
  }
}

TEST(ServerConfig, HealthMayHaveAPortOfItsOwn) {
  const auto read = [](const std::string& listen) {
    return parse_server_config(
        "plain_text: true\nstore: {conninfo: x}\nagent_token_file: /t\n" + listen, "s");
  };
  EXPECT_EQ(read("").value().health_address, "");
  EXPECT_EQ(read("listen: {health: \"127.0.0.1:7790\"}\n").value().health_address,
            "127.0.0.1:7790");
  EXPECT_NE(read("listen: {health: 7790}\n").status().message().find("listen.health"),
            std::string::npos);
}

TEST(ServerConfig, GroupsHaveOneSource) {
  const auto read = [](const std::string& lines) {
    return parse_server_config(
        "plain_text: true\nstore: {conninfo: x}\nagent_token_file: /t\n" + lines, "s");
  };
  const std::string groups = "unix_groups: {groups: [\"proj-*\"], admin_groups: [a], every: 1m}\n";
  const std::string oidc = "oidc: {issuer: \"https://id\", client_id: hai";
  EXPECT_FALSE(read("").value().unix_groups.is_used());
  const Result<ServerConfig> config = read(groups + oidc + "}\n");
  ASSERT_TRUE(config.is_ok()) << config.status().message();
  EXPECT_EQ(config.value().unix_groups.groups, std::vector<std::string>{"proj-*"});
  EXPECT_EQ(config.value().unix_groups.roles.admin, std::vector<std::string>{"a"});
  EXPECT_EQ(config.value().unix_groups.every, Duration(1min));
  EXPECT_EQ(config.value().oidc.groups_claim, "") << "nobody asks the provider for them";
  for (const auto& [lines, error] :
       {std::pair(groups + oidc + ", admin_groups: [b]}\n", "oidc.admin_groups: goes out"),
        std::pair(groups + oidc + ", groups_claim: teams}\n", "oidc.groups_claim: goes out"),
        std::pair(std::string("unix_groups: {every: 1m}\n"), "unix_groups: needs groups"),
        std::pair(std::string("unix_groups: {groups: [a], every: 1ms}\n"), "unix_groups.every"),
        std::pair(std::string("unix_groups: {group: [a]}\n"), "unknown key")}) {
    const Result<ServerConfig> bad = read(lines);
    ASSERT_FALSE(bad.is_ok()) << lines;
    EXPECT_NE(bad.status().message().find(error), std::string::npos) << bad.status().message();
  }
}

TEST(ServerConfig, CertificatesMayStandForTheAgentsToken) {
  const auto read = [](const std::string& lines) {
    return parse_server_config("plain_text: true\nstore: {conninfo: x}\n" + lines, "s");
  };
  const Result<ServerConfig> config =
      read("tls: {certificate: /c.crt, key: /c.key, client_ca: /ca.crt}\n");
  ASSERT_TRUE(config.is_ok()) << config.status().message();
  EXPECT_EQ(config.value().tls,
            (TlsFiles{.certificate = "/c.crt", .key = "/c.key", .ca = "/ca.crt"}));
  EXPECT_FALSE(is_readable_by_others(config.value()));
  for (const auto& [lines, error] :
       {std::pair("tls: {certificate: /c.crt, key: /c.key}", "agent_token_file"),
        std::pair("tls: {key: /c.key}\nagent_token_file: /t", "tls: certificate and key belong"),
        std::pair("tls: {client_ca: /c}\nagent_token_file: /t", "tls.client_ca: needs tls.cert"),
        std::pair("tls: {certificate: /c, key: /k, authority: /a}\nagent_token_file: /t",
                  "tls.authority: needs tls.client_ca"),
        std::pair("tls: {certificate: /c, key: /k, client_ca: /a, node_certificate_life: 1s}",
                  "tls.node_certificate_life: must be")}) {
    const std::string said = read(lines).status().message();
    EXPECT_NE(said.find(error), std::string::npos) << lines << "\n" << said;
  }
}

// Found by review: with `agent_token_file: ""` any agent without a token was let in, and empty
// files of `tls` were as if the section were not there.
TEST(ServerConfig, AnEmptyFileIsNoneThatWasLeftOut) {
  for (const auto& [lines, error] :
       {std::pair("agent_token_file: ''", "agent_token_file: is empty"),
        std::pair("agent_token_file:", "agent_token_file: is"),
        std::pair("agent_token_file: /t\ntls: {certificate: '', key: ''}", "tls.key: is empty"),
        std::pair("agent_token_file: /t\ntls: {certificate: /c, key: /k, client_ca: }",
                  "tls.client_ca: is empty"),
        std::pair("agent_token_file: /t\ntls: {}", "tls: needs certificate and key")}) {
    const std::string said =
        parse_server_config(std::string("plain_text: true\nstore: {conninfo: x}\n") + lines + "\n",
                            "s")
            .status()
            .message();
    EXPECT_NE(said.find(error), std::string::npos) << lines << "\n" << said;
  }
}

TEST(AgentConfig, AnEmptyFileIsNoneThatWasLeftOut) {
  for (const auto& [lines, error] : {std::pair("token_file: ''", "token_file: is empty"),
                                     std::pair("token_file: /t\ntls: {ca: ''}", "tls.ca: is empty"),
                                     std::pair("token_file: /t\ntls:", "tls: needs ca")}) {
    const std::string said =
        parse_agent_config(std::string("data_dir: /d\nservers: [localhost:1]\n") + lines + "\n",
                           "a")
            .status()
            .message();
    EXPECT_NE(said.find(error), std::string::npos) << lines << "\n" << said;
  }
}

TEST(ServerConfig, WithoutTlsOtherMachinesAreServedOnlyWhereItSaysSo) {
  const auto error = [](const std::string& lines) {
    return std::string(
        parse_server_config("store: {conninfo: x}\nagent_token_file: /t\n" + lines, "s")
            .status()
            .message());
  };
  const std::string here = "listen: {grpc: \"127.0.0.1:1\", http: \"localhost:2\"}\n";
  EXPECT_NE(error("").find("tls: is missing, and other machines"), std::string::npos) << error("");
  EXPECT_NE(error("plain_text: false\n").find("tls: is missing"), std::string::npos);
  EXPECT_EQ(error("plain_text: true\n"), "");
  EXPECT_EQ(error(here), "");
  EXPECT_EQ(error("tls: {certificate: /c, key: /k}\n"), "");
  EXPECT_NE(error("tls: {key: /k}\n").find("one of them is missing"), std::string::npos);
}

TEST(AgentConfig, WithoutTlsItGoesToOtherMachinesOnlyWhereItSaysSo) {
  const auto error = [](const std::string& lines) {
    return std::string(
        parse_agent_config("data_dir: /d\ntoken_file: /t\n" + lines, "a").status().message());
  };
  EXPECT_EQ(error("servers: [localhost:1, \"127.0.0.1:2\"]\n"), "");
  EXPECT_NE(error("servers: [localhost:1, \"b:2\"]\n").find("tls: is missing, and the servers"),
            std::string::npos);
  EXPECT_EQ(error("servers: [\"b:2\"]\nplain_text: true\n"), "");
  EXPECT_EQ(error("servers: [\"b:2\"]\ntls: {ca: /c}\n"), "");
}

TEST(ServerConfig, PlainTextIsOnlyForOneMachine) {
  const auto is_readable = [](const std::string& grpc, const std::string& http) {
    ServerConfig config{.grpc_address = grpc, .http_address = http};
    return is_readable_by_others(config);
  };
  EXPECT_FALSE(is_readable("127.0.0.1:1", "[::1]:2"));
  EXPECT_FALSE(is_readable("localhost:1", "127.0.0.1:2"));
  EXPECT_TRUE(is_readable("0.0.0.0:1", "127.0.0.1:2"));
  EXPECT_TRUE(is_readable("127.0.0.1:1", "10.0.0.1:2"));
}

TEST(AgentConfig, ACertificateMayStandForTheToken) {
  const auto read = [](const std::string& lines) {
    return parse_agent_config("data_dir: /d\nservers: [localhost:1]\n" + lines, "a");
  };
  const Result<AgentConfig> config = read("tls: {ca: /ca.crt, certificate: /n.crt, key: /n.key}\n");
  ASSERT_TRUE(config.is_ok()) << config.status().message();
  EXPECT_EQ(config.value().tls,
            (TlsFiles{.certificate = "/n.crt", .key = "/n.key", .ca = "/ca.crt"}));
  for (const auto& [lines, error] :
       {std::pair("tls: {ca: /ca.crt}", "token_file"),
        std::pair("tls: {ca: /ca, key: /k}\ntoken_file: /t", "tls: certificate and key belong"),
        std::pair("tls: {certificate: /c, key: /k}", "tls.certificate: needs tls.ca")}) {
    const std::string said = read(lines).status().message();
    EXPECT_NE(said.find(error), std::string::npos) << lines << "\n" << said;
  }
}

TEST(AgentConfig, ReadsEverything) {
  Result<AgentConfig> config = parse_agent_config(R"(
name: node-1
group: dev
zone: A
leaf: l1
address: 10.0.0.2
data_dir: /var/lib/hai
servers: ["a:1", "b:2"]
plain_text: true
token_file: /etc/agent
simulate_gpus: 8
shim: /usr/bin/hai-shim
python_dir: /usr/share/hai
unknown_user_runs_as_self: true
cgroups: false
isolation: shared
confinement: {system_users: [root], processes_max: 99, devices: [/dev/gdrdrv], allowed_calls: [bpf]}
logs: {store: /shared/logs, every: 1m, rate: 1Mi, rank_max: 64Mi}
login: {admin_users: [ann], admin_groups: [ops]}
log: {level: warning}
)",
                                                  "agent.yaml");
  ASSERT_TRUE(config.is_ok()) << config.status().message();
  EXPECT_EQ(config.value().servers, (std::vector<std::string>{"a:1", "b:2"}));
  EXPECT_EQ(config.value().simulate_gpus, 8);
  EXPECT_EQ(config.value().logs.path, "/shared/logs");
  EXPECT_EQ(config.value().logs.every, Duration(1min));
  EXPECT_EQ(config.value().logs.rate_bytes, 1 << 20);
  EXPECT_EQ(config.value().logs.rank_bytes, 64 << 20);
  EXPECT_FALSE(config.value().cgroups);
  EXPECT_EQ(config.value().login.admin_users, std::vector<std::string>{"ann"});
  EXPECT_EQ(config.value().login.admin_groups, std::vector<std::string>{"ops"});
  const ConfinementSettings& confinement = config.value().confinement;
  EXPECT_EQ(confinement.isolation, Isolation::shared);
  EXPECT_EQ(confinement.system_users, std::vector<std::string>{"root"});
  EXPECT_EQ(confinement.processes_max, 99);
  EXPECT_EQ(confinement.devices, std::vector<std::string>{"/dev/gdrdrv"});
  EXPECT_EQ(confinement.allowed_calls, std::vector<std::string>{"bpf"});
}

TEST(AgentConfig, SaysWhatIsWrongWithItsLogStore) {
  for (const auto& [lines, error] :
       {std::pair("logs: {every: 1m}", "logs: needs store"),
        std::pair("logs: {store: ''}", "logs.store: is empty"),
        std::pair("logs: {store: shared}", "logs.store: must be an absolute path, is shared"),
        std::pair("logs: {store: /s, every: 1ms}", "logs.every"),
        std::pair("logs: {store: /s, rate: 1}", "logs.rate"),
        std::pair("logs: {store: /s, keep: 1d}", "logs.keep")}) {
    const std::string said =
        parse_agent_config(
            std::string("data_dir: /d\nservers: [localhost:1]\ntoken_file: /t\n") + lines + "\n",
            "a")
            .status()
            .message();
    EXPECT_NE(said.find(error), std::string::npos) << lines << "\n" << said;
  }
}

TEST(ServerConfig, SaysWhatIsWrongWithItsLogStore) {
  for (const auto& [lines, error] :
       {std::pair("logs: {keep: 1d}", "logs: needs store"),
        std::pair("logs: {store: shared}", "logs.store: must be an absolute path, is shared"),
        std::pair("logs: {store: /s, keep: 1s}", "logs.keep"),
        std::pair("logs: {store: /s, user_max: 3}", "logs.user_max"),
        std::pair("logs: {store: /s, every: 1m}", "logs.every")}) {
    const std::string said =
        parse_server_config(
            std::string("plain_text: true\nstore: {conninfo: x}\nagent_token_file: /t\n") + lines +
                "\n",
            "s")
            .status()
            .message();
    EXPECT_NE(said.find(error), std::string::npos) << lines << "\n" << said;
  }
}

// It lets people in: a slip in it is said, not skipped.
TEST(AgentConfig, SaysWhatIsWrongWithLogins) {
  const std::string least = "data_dir: /d\nservers: [localhost:1]\ntoken_file: /t\n";
  for (const auto& [lines, error] :
       {std::pair("login: {admin_users: [ann, '']}", "login.admin_users: must be names"),
        std::pair("login: {admin_group: [ops]}", "login.admin_group: unknown key"),
        std::pair("login: {admin_groups: 7}", "login.admin_groups")}) {
    const std::string said = parse_agent_config(least + lines + "\n", "a").status().message();
    EXPECT_NE(said.find(error), std::string::npos) << lines << "\n" << said;
  }
  const AgentConfig config =
      parse_agent_config(least + "login: {admin_groups: [root, no-such-group]}\n", "a").value();
  const std::vector<std::string> missing = missing_from(config);
  EXPECT_EQ(missing.back(), "login.admin_groups: no group no-such-group");
}

TEST(AgentConfig, ConfinesStrictlyUnlessToldOtherwise) {
  const std::string least = "data_dir: /d\nservers: [localhost:1]\ntoken_file: /t\n";
  const ConfinementSettings confinement = parse_agent_config(least, "a").value().confinement;
  EXPECT_EQ(confinement.isolation, Isolation::strict);
  EXPECT_EQ(confinement.processes_max, 16'384);
  EXPECT_TRUE(confinement.system_users.empty());
}

TEST(AgentConfig, SaysWhatItCannotConfineBy) {
  const std::string said =
      parse_agent_config(
          "data_dir: /d\nservers: [localhost:1]\ntoken_file: /t\nisolation: loose\n"
          "confinement: {processes_max: -1, devices: [gdrdrv], allowed_calls: [read]}\n",
          "a")
          .status()
          .message();
  for (const char* error :
       {"isolation: must be strict, shared or none, is loose",
        "confinement.processes_max: ", "confinement.devices: must be paths below /dev, has gdrdrv",
        "confinement.allowed_calls: read is no system call that would be"}) {
    EXPECT_NE(said.find(error), std::string::npos) << error << "\n" << said;
  }
}

using Rows = std::set<std::pair<std::string, std::string>>;

// "| `log.level` | both | ...": key and program, of the table in units.md.
Rows documented_keys() {
  Rows rows;
  std::ifstream file(HAI_UNITS);
  for (std::string line; std::getline(file, line);) {
    const size_t end = line.find("` | ");
    if (!line.starts_with("| `") || end == std::string::npos) continue;
    const std::string program = line.substr(end + 4, line.find(" |", end + 4) - end - 4);
    if (program != "server" && program != "both") continue;
    rows.emplace(line.substr(3, end - 3), program);
  }
  return rows;
}

TEST(ReloadedKeys, AreThoseOfTheManual) {
  Rows rows;
  const std::set<std::string_view> of_agent(std::begin(kReloadedAgentKeys),
                                            std::end(kReloadedAgentKeys));
  for (const std::string_view key : kReloadedServerKeys) {
    const std::string shown = std::string(key) + (key.ends_with('.') ? "*" : "");
    rows.emplace(shown, of_agent.contains(key) ? "both" : "server");
  }
  EXPECT_EQ(documented_keys(), rows);
}

// A key that is spelt otherwise in the table would wait for a restart for ever.
TEST(ReloadedKeys, AreKeysOfTheExamples) {
  for (const auto& [file, known] :
       {std::pair("/server.yaml", std::vector<std::string_view>(std::begin(kReloadedServerKeys),
                                                                std::end(kReloadedServerKeys))),
        std::pair("/agent.yaml", std::vector<std::string_view>(std::begin(kReloadedAgentKeys),
                                                               std::end(kReloadedAgentKeys)))}) {
    const Result<std::string> text = read_whole_file(std::string(HAI_DEPLOY) + file);
    ASSERT_TRUE(text.is_ok());
    for (const std::string_view key : known) {
      const std::string_view last = key.substr(key.ends_with('.') ? 0 : key.rfind('.') + 1);
      const std::string name(last.substr(0, last.find('.')));
      EXPECT_NE(text.value().find(name + ":"), std::string::npos) << key << " in " << file;
    }
  }
}

TEST(AgentConfig, AllErrorsWithTheirLines) {
  Result<AgentConfig> config = parse_agent_config(
      "data_dir: here\nservers: [a, \"b:0\"]\nsimulate_gpus: 99\nname: node 1\n", "agent.yaml");
  ASSERT_FALSE(config.is_ok());
  const std::string& text = config.status().message();
  for (const char* part : {"line 1: data_dir", "line 2: servers", "line 3: simulate_gpus",
                           "line 4: name: must be", "token_file"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

}  // namespace
}  // namespace hai
