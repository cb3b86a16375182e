#include <pwd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/commands/user_table.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"
#include "common/whole_file.h"

namespace hai::cli {
namespace {

struct UserOptions {
  std::string name;                // of remove
  std::vector<std::string> names;  // of add and set
  std::string role;
  std::string active;
  std::optional<std::string> groups;  // "a,b"; "" = none
  std::string csv;                    // file; "-" = standard input
  OutputFormat output = OutputFormat::table;
};

int show_users(Session& session, const std::vector<v1::User>& users, OutputFormat output) {
  std::vector<Json> items;
  Table table({{"NAME"}, {"ROLE"}, {"ACTIVE"}, {"GROUPS", false, true}});
  for (const v1::User& user : users) {
    items.push_back(to_json(user));
    table.add_row({user.name(), user.role(), user.active() ? "yes" : "no",
                   join({user.groups().begin(), user.groups().end()}, ",")});
  }
  print(is_json(output) ? format_json_list(items, output) : table.render(session.terminal));
  return kOk;
}

int list(Session& session, const UserOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::ListUsersReply> reply = client.value()->list_users({});
  if (!reply.is_ok()) return session.fail(reply.status());
  return show_users(session, {reply.value().users().begin(), reply.value().users().end()},
                    options.output);
}

// "role user, groups ml,nlp".
std::string facts_of(const v1::User& user) {
  const std::string groups = join({user.groups().begin(), user.groups().end()}, ",");
  return fmt::format("role {}, groups {}{}", user.role(), groups.empty() ? "none" : groups,
                     user.active() ? "" : ", not active");
}

// Ok if nobody has any of the names: before the first is added, and with what is known of them. Who
// is added by somebody else meanwhile is refused by the server.
Status check_are_new(Client& client, const std::vector<std::string>& names) {
  const Result<v1::ListUsersReply> known = client.list_users({});
  RETURN_IF_ERROR(known.status());
  for (const v1::User& user : known.value().users()) {
    const std::string& name = user.name();
    if (std::ranges::count(names, name) == 0) continue;
    return already_exists(
        "the user {} is there already ({}) and was not changed: `hai user set {} ...` changes what "
        "it names",
        name, facts_of(user), name);
  }
  return ok();
}

// Of several, those before the one that is refused stay as they are now.
Status stopped_at(const std::string& name, size_t done, const Status& status) {
  if (done == 0) return status;
  return Status(status.code(),
                fmt::format("{}: {}; the {} before it are set", name, status.message(), done));
}

int set(Session& session, const UserOptions& options, bool is_add) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  if (is_add) {
    const Status status = check_are_new(*client.value(), options.names);
    if (!status.is_ok()) return session.fail(status);
  }
  v1::SetUserRequest request;
  request.set_only_new(is_add);
  if (!options.role.empty()) request.set_role(options.role);
  if (!options.active.empty()) request.set_active(options.active == "yes");
  if (options.groups) {
    request.set_set_groups(true);
    for (const std::string& group : CLI::detail::split(*options.groups, ',')) {
      if (!group.empty()) request.add_groups(group);
    }
  }
  std::vector<v1::User> after;
  for (const std::string& name : options.names) {
    request.set_name(name);
    const Result<v1::User> reply = client.value()->set_user(request);
    if (!reply.is_ok()) return session.fail(stopped_at(name, after.size(), reply.status()));
    after.push_back(reply.value());
  }
  return show_users(session, after, options.output);
}

int remove(Session& session, const UserOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::RemoveUserRequest request;
  request.set_name(options.name);
  const Result<v1::RemoveUserReply> reply = client.value()->remove_user(request);
  return reply.is_ok() ? kOk : session.fail(reply.status());
}

v1::SetUserRequest request_of(const UserRow& row) {
  v1::SetUserRequest request;
  request.set_name(row.name);
  if (!row.role.empty()) request.set_role(row.role);
  request.set_set_groups(row.groups.has_value());
  for (const std::string& group : row.groups.value_or(std::vector<std::string>())) {
    request.add_groups(group);
  }
  return request;
}

// What was done to each, for the summary. Each who was there and is another one now has a line.
std::string done_to(const v1::User* before, const v1::User& after) {
  if (before == nullptr) return "added";
  if (before->SerializeAsString() == after.SerializeAsString()) return "unchanged";
  say(fmt::format("{} was there: {}; now {}", after.name(), facts_of(*before), facts_of(after)));
  return "changed";
}

int set_all(Session& session, const UserOptions& options) {
  if (!options.names.empty() || !options.role.empty() || !options.active.empty() ||
      options.groups) {
    return session.usage_error("--csv: names the users and all about them: leave the rest out");
  }
  const Result<std::string> text = read_file_or_input(options.csv);
  if (!text.is_ok()) return session.fail(text.status());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::WhoAmIReply> who = client.value()->who_am_i({});
  if (!who.is_ok()) return session.fail(who.status());
  const Result<std::vector<UserRow>> rows =
      parse_user_table(text.value(), options.csv, who.value().user(),
                       [](const std::string& name) { return ::getpwnam(name.c_str()) != nullptr; });
  if (!rows.is_ok()) return session.usage_error(rows.status().message());
  const Result<v1::ListUsersReply> known = client.value()->list_users({});
  if (!known.is_ok()) return session.fail(known.status());
  std::map<std::string, const v1::User*> before;
  for (const v1::User& user : known.value().users()) before[user.name()] = &user;
  std::map<std::string, int> counts;
  std::vector<v1::User> after;
  for (const UserRow& row : rows.value()) {
    const Result<v1::User> reply = client.value()->set_user(request_of(row));
    if (!reply.is_ok()) {
      return session.fail(
          Status(reply.status().code(),
                 fmt::format("{}:{}: {}; {} users before it are set, run it again for the rest",
                             options.csv, row.line, reply.status().message(), after.size())));
    }
    ++counts[done_to(before[row.name], reply.value())];
    after.push_back(reply.value());
  }
  say(fmt::format("{} users: {} added, {} changed, {} unchanged", after.size(), counts["added"],
                  counts["changed"], counts["unchanged"]));
  return is_json(options.output) ? show_users(session, after, options.output) : kOk;
}

int set_one_or_all(Session& session, const UserOptions& options, bool is_add) {
  if (!options.csv.empty()) return set_all(session, options);
  if (options.names.empty()) {
    return session.usage_error("USER: name one or several, or a table by --csv FILE");
  }
  return set(session, options, is_add);
}

void add_user_options(CLI::App& verb, UserOptions& options) {
  verb.add_option("USER", options.names, "names of users");
  verb.add_option("--role", options.role, "what the user may do")
      ->check(CLI::IsMember({"user", "operator", "admin"}));
  verb.add_option("--active", options.active, "whether jobs of the user may start")
      ->check(CLI::IsMember({"yes", "no"}));
  verb.add_option("--groups", options.groups, "all groups of the user: a,b");
  verb.add_option("--csv", options.csv,
                  "all users of a table with the columns name,groups,role,unix_account (all but "
                  "name may be missing; groups with ; between); - reads it from standard input. "
                  "Who is there already is changed to what the table says, and listed with what "
                  "changes. Nobody is changed unless every line is good");
  add_output_option(verb, options.output);
}

}  // namespace

void add_user(CLI::App& app, Session& session) {
  CLI::App* user =
      app.add_subcommand("user", "Show, add and change users")->group("Administration");
  const auto options = std::make_shared<UserOptions>();
  user->require_subcommand(1);
  session.help[user] = {
      .examples = {{"hai user add ann ben --groups vision,nlp", "new users, of the same groups"},
                   {"hai user set ann --role operator", "change one: what is not named stays"},
                   {"hai user set ann --active no", "what waits of hers starts no more"},
                   {"hai user add --csv people.csv", "everybody of a table"},
                   {"hai user remove ann", "who has no unfinished jobs"},
                   {"hai user list", "everybody"}}};
  CLI::App* list_verb = user->add_subcommand("list", "Show users");
  add_output_option(*list_verb, options->output);
  list_verb->callback([&session, options] { session.exit_code = list(session, *options); });
  CLI::App* add_verb =
      user->add_subcommand("add", "Add users who are not there yet, or all of a table");
  CLI::App* set_verb = user->add_subcommand("set", "Change users, or add those who are not there");
  for (CLI::App* verb : {add_verb, set_verb}) {
    add_user_options(*verb, *options);
    verb->callback([&session, options, is_add = verb == add_verb] {
      session.exit_code = set_one_or_all(session, *options, is_add);
    });
  }
  CLI::App* remove_verb = user->add_subcommand(
      "remove", "Remove a user who has no unfinished jobs, with tokens, secrets and quotas");
  remove_verb->add_option("USER", options->name, "the user's name")->required();
  remove_verb->callback([&session, options] { session.exit_code = remove(session, *options); });
}

}  // namespace hai::cli
