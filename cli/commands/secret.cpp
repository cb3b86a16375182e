#include <CLI/CLI.hpp>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/file.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/secret_input.h"
#include "cli/session.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

constexpr size_t kValueBytesMax = 65'536;  // what the server takes

struct SecretOptions {
  std::string name;
  std::string file;
  std::string user;
  OutputFormat output = OutputFormat::table;
};

Result<std::string> read_value(const SecretOptions& options) {
  if (!options.file.empty()) return read_file(options.file);
  return read_secret_input(fmt::format("value of {} (it is not shown): ", options.name),
                           kValueBytesMax);
}

int set(Session& session, const SecretOptions& options) {
  Result<std::string> value = read_value(options);
  if (!value.is_ok()) return session.fail(value.status());
  if (value.value().empty()) return session.fail(invalid_argument("there is no value"));
  v1::SetSecretRequest request;
  request.set_name(options.name);
  request.set_value(value.value());
  explicit_bzero(value.value().data(), value.value().size());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::Secret> reply = client.value()->set_secret(request);
  explicit_bzero(request.mutable_value()->data(), request.value().size());
  if (!reply.is_ok()) return session.fail(reply.status());
  if (is_json(options.output)) {
    print(format_json(to_json(reply.value()), options.output));
  } else {
    say(fmt::format("secret {} is set; jobs get it with `--secret VARIABLE={}`", options.name,
                    options.name));
  }
  return kOk;
}

int list(Session& session, const SecretOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::ListSecretsRequest request;
  request.set_user(options.user);
  const Result<v1::ListSecretsReply> reply = client.value()->list_secrets(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  std::vector<Json> items;
  Table table({{"NAME"}, {"USER"}, {"SET"}, {"VERSION"}});
  for (const v1::Secret& secret : reply.value().secrets()) {
    items.push_back(to_json(secret));
    table.add_row({secret.name(), secret.user(), local_time(secret.set_at_us()),
                   std::to_string(secret.version())});
  }
  print(is_json(options.output) ? format_json_list(items, options.output)
                                : table.render(session.terminal));
  return kOk;
}

int remove(Session& session, const SecretOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::DeleteSecretRequest request;
  request.set_name(options.name);
  request.set_user(options.user);
  const Result<v1::DeleteSecretReply> reply = client.value()->delete_secret(request);
  return reply.is_ok() ? kOk : session.fail(reply.status());
}

}  // namespace

void add_secret(CLI::App& app, Session& session) {
  CLI::App* secret =
      app.add_subcommand("secret", "Keep passwords and keys for your jobs")->group("You");
  const auto options = std::make_shared<SecretOptions>();
  secret->require_subcommand(1);
  session.help[secret] = {
      .details =
          "The server keeps the value sealed and gives it only to the ranks of your jobs, "
          "in the variable that the job file names (spec.secrets). Nobody can read it back.",
      .examples = {{"hai secret set wandb", "asks for the value and does not show it"},
                   {"pass show hf | hai secret set hf", "takes it from a pipe"},
                   {"hai run train.yaml --secret WANDB_API_KEY=wandb", "a job that gets it"},
                   {"hai secret delete wandb", "jobs that need it cannot start any more"}}};
  CLI::App* set_verb = secret->add_subcommand("set", "Keep a value, or another one");
  set_verb->add_option("NAME", options->name, "letters, digits and . _ -")->required();
  set_verb->add_option("--file", options->file, "take the value from this file, as it is");
  add_output_option(*set_verb, options->output);
  set_verb->callback([&session, options] { session.exit_code = set(session, *options); });
  CLI::App* list_verb = secret->add_subcommand("list", "Show names, never values");
  list_verb->add_option("--user", options->user, "of this user; yours by default");
  add_output_option(*list_verb, options->output);
  list_verb->callback([&session, options] { session.exit_code = list(session, *options); });
  CLI::App* delete_verb = secret->add_subcommand("delete", "Forget a secret");
  delete_verb->add_option("NAME", options->name, "as hai secret list shows it")->required();
  delete_verb->add_option("--user", options->user, "of this user; you by default");
  delete_verb->callback([&session, options] { session.exit_code = remove(session, *options); });
}

}  // namespace hai::cli
