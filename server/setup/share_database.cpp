#include "server/setup/share_database.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/doctor/look.h"
#include "common/machine/bounded_child.h"
#include "common/text_check.h"
#include "common/tls/authority_folder.h"
#include "common/tls/certificate.h"
#include "common/tls/replace_file.h"
#include "common/whole_file.h"
#include "server/auth/token.h"
#include "server/setup/database_pair.h"
#include "server/setup/setup_files.h"
#include "server/store/conninfo.h"
#include "server/store/pg_session.h"

namespace hai {
namespace {

namespace fs = std::filesystem;

constexpr Duration kAsk = 60s;
constexpr Duration kRestart = 120s;

struct Opened {
  std::string port;
  bool is_deaf = false;  // listens to this machine only, and nobody here can restart it
  std::string unit;      // to be restarted, "" = none
};

std::string format_opened(const Opened& opened) {
  return fmt::format("{} {:d} {}", opened.port, opened.is_deaf, opened.unit);
}

Opened parse_opened(const std::string& text) {
  Opened opened;
  std::istringstream(text) >> opened.port >> opened.is_deaf >> opened.unit;
  return opened;
}

Status append_lines(const std::string& path, const std::vector<std::string>& lines) {
  Result<std::string> text = read_whole_file(path);
  RETURN_IF_ERROR(text.status());
  std::string missing;
  for (const std::string& line : lines) {
    const bool is_there = ("\n" + text.value()).find("\n" + line + "\n") != std::string::npos;
    if (!is_there) missing += line + "\n";
  }
  if (missing.empty()) return ok();
  const bool is_cut = !text.value().empty() && text.value().back() != '\n';
  std::ofstream file(path, std::ios::app);
  file << (is_cut ? "\n" : "") << "# By hai-server setup: servers of hai on other machines.\n"
       << missing;
  file.close();
  return file ? ok() : unavailable("cannot write {}", path);
}

// Debian names each of its PostgreSQLs: 15/main is the unit postgresql@15-main.
std::string unit_of(const std::string& cluster_name) {
  const size_t slash = cluster_name.find('/');
  if (slash == std::string::npos) return "";
  return "postgresql@" + cluster_name.substr(0, slash) + "-" + cluster_name.substr(slash + 1);
}

// Of one line of a passfile, where \ makes the next character a plain one.
std::vector<std::string> passfile_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\\' && at + 1 < line.size()) {
      fields.back() += line[++at];
    } else if (line[at] == ':' && fields.size() < 5) {
      fields.emplace_back();
    } else {
      fields.back() += line[at];
    }
  }
  return fields;
}

// Whole, or not at all where one is there already.
Status write_passfile(const std::string& path, const std::string& line, const UnixUser& user) {
  const std::string own = fmt::format("{}.{}", path, ::getpid());
  RETURN_IF_ERROR(replace_file(own, line, 0600));
  Status status = hand_over(own, user);
  if (status.is_ok() && ::link(own.c_str(), path.c_str()) == 0) {
    fmt::print("{} written: a password of the database\n", path);
  } else if (status.is_ok() && errno != EEXIST) {
    status = unavailable("cannot write {}: {}", path, std::strerror(errno));
  }
  ::unlink(own.c_str());
  return status;
}

PgSession administrator_session(const LocalDatabase& database) {
  return PgSession({.conninfo = administrator_conninfo(database),
                    .connect_timeout = 5s,
                    .statement_timeout = 60s,
                    .check_schema = false});
}

// In a process that is PostgreSQL's user, who may read its files.
Result<std::string> look_at_pair(const LocalDatabase& database) {
  PgSession session = administrator_session(database);
  try {
    const PgResult facts = session.run(
        "SELECT current_setting('ssl'), current_setting('ssl_cert_file'),"
        " current_setting('data_directory'), current_setting('hba_file')");
    const fs::path data(std::string(facts.text(0, 2)));
    fs::path folder = folder_of_pair(data, std::string(facts.text(0, 3)));
    if (::access(folder.c_str(), W_OK) != 0) folder = data;
    ShownPair shown{.has_tls = facts.text(0, 0) == "on",
                    .file = data / std::string(facts.text(0, 1)),
                    .place = folder / kDatabasePair,
                    .is_in_data = folder == data};
    const Result<std::string> text = read_whole_file(shown.file);
    if (text.is_ok()) shown.certificate = joined_certificates(text.value(), "");
    return format_shown(shown);
  } catch (const PgError& error) {
    return unavailable("postgres: {}", error.what());
  }
}

// No certificate: PostgreSQL keeps the one that the site has given it.
Result<KeyAndCertificate> choose_pair(const ServerConfig& config, const ShownPair& shown,
                                      const std::string& name) {
  if (config.authority.empty() && !shown.has_tls) {
    return failed_precondition(
        "PostgreSQL does not speak TLS, and there is no tls.authority of which it could have a "
        "certificate: set ssl, ssl_cert_file and ssl_key_file in its postgresql.conf, restart it, "
        "and run this again");
  }
  const bool is_chosen = shown.has_tls && !is_spare_certificate(shown.file, shown.certificate);
  if (config.authority.empty() || is_chosen) return KeyAndCertificate{};
  const Result<std::string> servers = read_whole_file(config.tls.certificate);
  return pair_for_database(AuthorityFolder(config.authority), shown, name,
                           servers.is_ok() ? servers.value() : "", clock_now());
}

Status give_pair(PgSession& session, const ShownPair& shown, const KeyAndCertificate& pair) {
  if (!pair.key.empty()) {
    RETURN_IF_ERROR(replace_file(shown.place, pair.key + pair.certificate, 0600));
  }
  const std::string file = sql_quoted(shown.is_in_data ? kDatabasePair : shown.place, '\'');
  session.run("ALTER SYSTEM SET ssl_cert_file = " + file);
  session.run("ALTER SYSTEM SET ssl_key_file = " + file);
  session.run("ALTER SYSTEM SET ssl = on");
  return ok();
}

// In a process that is PostgreSQL's user, who owns its files. The role is given the password each
// time: in a PostgreSQL that was made anew it has none.
Result<std::string> open_for(const LocalDatabase& database, const std::vector<std::string>& lines,
                             const std::string& password, const ShownPair& shown,
                             const KeyAndCertificate& pair) {
  PgSession session = administrator_session(database);
  try {
    session.run(fmt::format("ALTER ROLE {} PASSWORD {}", sql_quoted(database.role, '"'),
                            sql_quoted(password, '\'')));
    const PgResult facts = session.run(
        "SELECT current_setting('listen_addresses'), current_setting('hba_file'),"
        " current_setting('port'), current_setting('cluster_name'),"
        " current_setting('data_directory')");
    RETURN_IF_ERROR(append_lines(std::string(facts.text(0, 1)), lines));
    if (!pair.certificate.empty()) RETURN_IF_ERROR(give_pair(session, shown, pair));
    session.run("SELECT pg_reload_conf()");
    // Where setup has put it before.
    const std::string old = fmt::format("{}/{}", facts.text(0, 4), kDatabasePair);
    if (!pair.certificate.empty() && !shown.is_in_data) ::unlink(old.c_str());
    Opened opened{.port = std::string(facts.text(0, 2))};
    const std::string listens(facts.text(0, 0));
    if (listens.empty() || listens == "localhost") {
      opened.unit = unit_of(std::string(facts.text(0, 3)));
      opened.is_deaf = opened.unit.empty();
      if (!opened.is_deaf) session.run("ALTER SYSTEM SET listen_addresses = '*'");
    }
    return format_opened(opened);
  } catch (const PgError& error) {
    return unavailable("postgres: {}", error.what());
  }
}

// Beside the CA, so that this is not retired under PostgreSQL.
Status keep_copy(const AuthorityFolder& authority, const ShownPair& shown,
                 const std::string& certificate) {
  if (certificate.empty()) {
    ::unlink(authority.database_certificate().c_str());
    return ok();
  }
  RETURN_IF_ERROR(
      replace_file(authority.database_certificate(), certificate, 0644, authority.certificate()));
  if (shown.is_in_data) {
    fmt::print(stderr,
               "hai-server: warning: {}, by which PostgreSQL proves who it is, is in its data "
               "directory: who gets a copy of that can pass for this server, so keep copies as "
               "secret as {}\n",
               shown.place, authority.key());
  }
  const Result<std::string> left = pair_still_to_change(authority, certificate);
  RETURN_IF_ERROR(left.status());
  if (!left.value().empty()) fmt::print(stderr, "hai-server: warning: {}\n", left.value());
  return ok();
}

Status restart(const std::string& unit) {
  const ChildOutput said = run_command({"systemctl", "restart", unit}, {.patience = kRestart});
  if (said.exit_code == 0) return ok();
  return failed_precondition("{} does not start: look at `journalctl -u {}`: {}", unit, unit,
                             said.is_late ? "no answer within 2 min" : printable(said.text));
}

}  // namespace

std::string hba_line(const LocalDatabase& database, const std::string& address) {
  const bool is_v6 = address.find(':') != std::string::npos;
  return fmt::format("hostssl {} {} {}/{} scram-sha-256", database.name, database.role, address,
                     is_v6 ? 128 : 32);
}

std::string further_conninfo(const LocalDatabase& database, const HostPort& at,
                             const std::string& passfile, const std::string& ca) {
  const std::string port = at.port == "5432" ? "" : " port=" + at.port;
  const std::string proof =
      ca.empty() ? "sslmode=require" : "sslmode=verify-full sslrootcert=" + quoted_conninfo(ca);
  return fmt::format("host={}{} dbname={} user={} passfile={} target_session_attrs=read-write {}",
                     at.host, port, database.name, database.role, passfile, proof);
}

Result<LocalDatabase> local_database_of(const std::string& conninfo) {
  Result<std::map<std::string, std::string>> words = parse_conninfo(conninfo);
  RETURN_IF_ERROR(words.status());
  LocalDatabase database{.socket = words.value()["host"],
                         .role = words.value()["user"],
                         .name = words.value()["dbname"]};
  if (!words.value()["port"].empty()) database.port = words.value()["port"];
  const bool is_plain = database.socket.starts_with('/') && words.value()["hostaddr"].empty() &&
                        (database.socket + database.port).find(',') == std::string::npos &&
                        !database.role.empty() && !database.name.empty();
  if (is_plain) return database;
  return failed_precondition(
      "the database, '{}', is not by this machine's socket with a role and a name, as setup makes "
      "it: open it for the other machine yourself, and say how that reaches it: --database",
      shown_conninfo(conninfo));
}

std::string password_in(const std::string& passfile_text, const LocalDatabase& database,
                        const std::string& host) {
  std::istringstream text(passfile_text);
  for (std::string line; std::getline(text, line);) {
    const std::vector<std::string> fields = passfile_fields(line);
    const auto is = [&](size_t at, const std::string& word) {
      return fields[at] == "*" || fields[at] == word;
    };
    if (line.starts_with('#') || fields.size() != 5) continue;
    if (is(0, host) && is(1, database.port) && is(2, database.name) && is(3, database.role))
      return fields[4];
  }
  return "";
}

Result<std::string> bring_password(const std::string& passfile, const LocalDatabase& database,
                                   const std::string& host, const UnixUser& user) {
  if (!is_file(passfile)) {
    const std::string line =
        fmt::format("*:*:{}:{}:{}\n", database.name, database.role, make_token_secret());
    RETURN_IF_ERROR(write_passfile(passfile, line, user));
  }
  const Result<std::string> text = read_whole_file(passfile);
  RETURN_IF_ERROR(text.status());
  std::string password = password_in(text.value(), database, host);
  if (!password.empty()) return password;
  return not_found(
      "{} has no password of the role {} for the database {} at {}: add a line "
      "HOST:PORT:DATABASE:ROLE:PASSWORD, or move the file away",
      passfile, database.role, database.name, host);
}

Result<std::string> share_database(const SetupPlan& plan, const std::string& name,
                                   const std::vector<std::string>& addresses) {
  const Result<LocalDatabase> database = local_database_of(plan.config.conninfo);
  RETURN_IF_ERROR(database.status());
  const Result<UnixUser> administrator = find_unix_user("postgres");
  RETURN_IF_ERROR(administrator.status());
  std::vector<std::string> lines;
  for (const std::string& address : addresses) {
    lines.push_back(hba_line(database.value(), address));
  }
  const std::string passfile = plan.folder + "/pgpass";
  const Result<std::string> password = bring_password(passfile, database.value(), name, plan.user);
  RETURN_IF_ERROR(password.status());
  const std::string& authority = plan.config.authority;
  const auto look = [&] { return look_at_pair(database.value()); };
  const Result<std::string> looked = run_as(administrator.value(), look, kAsk);
  RETURN_IF_ERROR(looked.status());
  const ShownPair shown = parse_shown(looked.value());
  const Result<KeyAndCertificate> pair = choose_pair(plan.config, shown, name);
  RETURN_IF_ERROR(pair.status());
  const bool has_pair = !pair.value().certificate.empty();
  const auto work = [&] {
    return open_for(database.value(), lines, password.value(), shown, pair.value());
  };
  const Result<std::string> done = run_as(administrator.value(), work, kAsk);
  RETURN_IF_ERROR(done.status());
  const Opened opened = parse_opened(done.value());
  if (!authority.empty()) {
    RETURN_IF_ERROR(keep_copy(AuthorityFolder(authority), shown, pair.value().certificate));
  }
  if (opened.is_deaf) {
    return failed_precondition(
        "PostgreSQL listens to this machine only, and is none of Debian's units: set "
        "listen_addresses = '*' in its postgresql.conf, restart it, and run this again");
  }
  if (!opened.unit.empty()) {
    RETURN_IF_ERROR(restart(opened.unit));
    fmt::print("PostgreSQL listens for other machines, too; {} was restarted for that\n",
               opened.unit);
  }
  if (!has_pair) {
    fmt::print(stderr,
               "hai-server: warning: PostgreSQL's certificate is none of the cluster's CA: the "
               "further server speaks TLS with it (sslmode=require) and takes whoever answers for "
               "it. If it is for {}, run this with --database and sslmode=verify-full "
               "sslrootcert=FILE, the CA that it is of\n",
               name);
  }
  return further_conninfo(database.value(), {.host = name, .port = opened.port}, passfile,
                          has_pair ? authority + "/ca.crt" : "");
}

}  // namespace hai
