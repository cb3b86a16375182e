#include "server/setup/setup.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "common/machine/systemd_unit.h"
#include "common/tls/replace_file.h"
#include "common/whole_file.h"
#include "server/commands/command.h"
#include "server/setup/add_server.h"
#include "server/setup/bundle.h"
#include "server/setup/next_steps.h"
#include "server/setup/setup_files.h"
#include "server/setup/setup_plan.h"
#include "server/setup/sign_in.h"
#include "server/store/migrate.h"

namespace hai {
namespace {

constexpr Duration kAsk = 60s;
constexpr Duration kMigrate = 15min;

Result<DatabaseFacts> look(const SetupPlan& plan) {
  const auto facts = [](Result<DatabaseFacts> looked) {
    return looked.is_ok() ? Result<std::string>(format_facts(looked.value())) : looked.status();
  };
  Result<std::string> answer = std::string();
  if (plan.local) {
    const Result<UnixUser> administrator = find_unix_user("postgres");
    if (!administrator.is_ok()) {
      return failed_precondition(
          "there is no PostgreSQL on this machine: apt-get install postgresql, or name one that is "
          "elsewhere: --database");
    }
    answer = run_as(
        administrator.value(), [&] { return facts(look_at_local(*plan.local)); }, kAsk);
  } else {
    const auto work = [&] { return facts(look_at_database(plan.config.conninfo)); };
    answer = run_as(plan.user, work, kAsk);
  }
  RETURN_IF_ERROR(answer.status());
  return parse_facts(answer.value());
}

Result<std::string> as_text(const Status& status, std::string text = "") {
  return status.is_ok() ? Result<std::string>(std::move(text)) : status;
}

// Role and database.
Status make_database(const SetupPlan& plan) {
  if (!plan.local) return ok();
  const Result<UnixUser> administrator = find_unix_user("postgres");
  RETURN_IF_ERROR(administrator.status());
  const auto make = [&] { return as_text(make_local(*plan.local)); };
  return run_as(administrator.value(), make, kAsk).status();
}

Status claim(const SetupPlan& plan, bool is_adopted) {
  const auto mark = [&] {
    return as_text(claim_database(plan.config.conninfo, plan.mark, is_adopted));
  };
  return run_as(plan.user, mark, kAsk).status();
}

// Schema, and the mark once more, by the rule of claim_database().
Status fill_database(const SetupPlan& plan, bool is_adopted, std::vector<std::string>& said) {
  const auto migrate_and_mark = [&]() -> Result<std::string> {
    const Result<MigrateResult> done = migrate(plan.config.conninfo);
    RETURN_IF_ERROR(done.status());
    const Status marked = claim_database(plan.config.conninfo, plan.mark, is_adopted);
    const auto [from, to] = done.value();
    return as_text(marked, from == to ? fmt::format("database: schema {}", to)
                                      : fmt::format("database: schema {}, was {}", to, from));
  };
  Result<std::string> done = run_as(plan.user, migrate_and_mark, kMigrate);
  RETURN_IF_ERROR(done.status());
  said.push_back(std::move(done).value());
  return ok();
}

// As the server will see it.
Status check(const SetupPlan& plan) {
  const auto problems = [&]() -> Result<std::string> {
    const Result<ServerConfig> config = read_server_config(plan.path);
    RETURN_IF_ERROR(config.status());
    std::string lines;
    for (const auto& [key, status] : config_problems(config.value())) {
      lines +=
          fmt::format("{}{}: {}: {}", lines.empty() ? "" : "\n", plan.path, key, status.message());
    }
    return lines;
  };
  const Result<std::string> lines = run_as(plan.user, problems, kAsk);
  RETURN_IF_ERROR(lines.status());
  if (lines.value().empty()) return ok();
  return failed_precondition("as the user {} the server would not start:\n{}", plan.user.name,
                             lines.value());
}

Result<bool> start(const SetupPlan& plan, const SetupOptions& options) {
  if (!options.starts || plan.path != kServerUnitConfig || ::geteuid() != 0 || !has_systemd()) {
    return false;
  }
  RETURN_IF_ERROR(start_unit(kServerUnit));
  return true;
}

// One server is enough: the first one of a new cluster. What is there stays as the administrator
// has it. The archive is his to enable: its files are then all there is of old history.
bool start_backups(const SetupPlan& plan, const SetupOptions& options) {
  if (!plan.is_first_setup() || !options.backs_up) return false;
  const Status status = start_unit(kBackupTimer);
  if (!status.is_ok()) fmt::print(stderr, "hai-server: warning: {}\n", status.message());
  return status.is_ok();
}

Status write_bundle(const SetupOptions& options) {
  const Result<ExportedBundle> made = export_bundle(options.config, options.database);
  RETURN_IF_ERROR(made.status());
  const std::string text = format_bundle(made.value().bundle);
  for (const std::string& file : made.value().left_out) {
    fmt::print(stderr, "hai-server: not in the bundle, copy it yourself: {}\n", file);
  }
  if (options.export_bundle != "-") return replace_file(options.export_bundle, text, 0600);
  std::cout << text << std::flush;
  return std::cout ? ok() : unavailable("standard output: cannot be written");
}

Status set_up(const SetupPlan& plan, const SetupOptions& options) {
  FirstFiles first(plan);
  RETURN_IF_ERROR(first.bring_database_files());
  const Result<DatabaseFacts> facts = look(plan);
  RETURN_IF_ERROR(facts.status());
  const bool is_adopted = plan.text.empty();
  RETURN_IF_ERROR(judge_database(facts.value(), plan.mark.id, is_adopted));
  if (!options.bundle.empty()) RETURN_IF_ERROR(judge_schema(facts.value()));
  RETURN_IF_ERROR(check_files(plan, is_founded(facts.value())));
  const std::string& token_file = plan.config.admin_token_file;
  const bool has_new_token =
      plan.is_first_setup() && (is_unfinished(plan.folder) || !is_file(token_file));
  std::vector<std::string> said;
  // No key is made before the database is this cluster's: two foundings at once would make two CAs.
  RETURN_IF_ERROR(make_database(plan));
  RETURN_IF_ERROR(first.bring_id(said));
  Status status = claim(plan, is_adopted);
  // Where the answer was lost, it may be marked.
  if (status.code() != Code::failed_precondition) first.keep();
  RETURN_IF_ERROR(status);
  if (plan.is_founding) status = mark_unfinished(plan.folder);
  if (status.is_ok()) status = make_files(plan, said);
  if (status.is_ok()) status = hand_over_files(plan);
  if (status.is_ok()) status = fill_database(plan, is_adopted, said);
  if (status.is_ok()) status = write_config(plan, said);
  if (status.is_ok()) status = check(plan);
  for (const std::string& line : said) fmt::print("{}\n", line);
  RETURN_IF_ERROR(status);
  if (const auto fault = fault_of_transport(plan.config.conninfo)) {
    fmt::print(stderr, "hai-server: warning: {}: {}\n", fault->found, fault->remedy);
  }
  const Result<bool> is_started = start(plan, options);
  RETURN_IF_ERROR(is_started.status());
  const Result<std::string> token = has_new_token && is_file(token_file)
                                        ? read_whole_file(token_file)
                                        : Result<std::string>(std::string());
  RETURN_IF_ERROR(token.status());
  SignedIn signed_in;
  if (is_started.value() && !token_file.empty()) signed_in = sign_in(plan);
  const Started started{.server = is_started.value(),
                        .backups = is_started.value() && start_backups(plan, options)};
  fmt::print("{}", next_steps(plan, started, token.value(), signed_in));
  RETURN_IF_ERROR(mark_finished(plan.folder));
  // Long after its beginning the first token has ended, and is not missed.
  const bool is_wanted = plan.is_first_setup() || !plan.nodes.empty();
  if (signed_in.complaint.empty() || !is_wanted) return ok();
  return unavailable("{}: the server is set up, and the rest can be done as written above",
                     signed_in.complaint);
}

}  // namespace

Status run_setup(const SetupOptions& options) {
  if (!options.add_server.empty()) {
    RETURN_IF_ERROR(check_options(options));
    if (is_file(options.config)) return add_server(options);
    return failed_precondition("--add-server: there is no {}: run `hai-server setup` first",
                               options.config);
  }
  if (!options.export_bundle.empty()) return write_bundle(options);
  const Result<SetupPlan> plan = make_setup_plan(options);
  RETURN_IF_ERROR(plan.status());
  return set_up(plan.value(), options);
}

}  // namespace hai
