#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/context_config.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

struct ContextOptions {
  std::string name;
  std::string new_name;
  OutputFormat output = OutputFormat::table;
};

// The one that the next command would use: --context and $HAI_CONTEXT win over the current one.
std::string name_in_force(const Session& session, const ContextConfig& config) {
  return session.context.empty() ? config.current : session.context;
}

std::string chosen_by(const Session& session) {
  if (session.context.empty()) return "hai context use";
  const char* environment = std::getenv("HAI_CONTEXT");
  return environment != nullptr && session.context == environment ? "$HAI_CONTEXT" : "--context";
}

// Without the token: what is shown on a screen is soon in a bug report.
Json context_json(const Session& session, const ContextConfig& config, const Context& context) {
  return {{"name", context.name},
          {"current", context.name == config.current},
          {"in_force", context.name == name_in_force(session, config)},
          {"servers", context.servers},
          {"has_token", !context.token.empty()},
          {"tls", !context.ca.empty()},
          {"dev_data", context.dev_data.empty() ? Json() : Json(context.dev_data)}};
}

std::string tls_line(const Context& context) {
  if (context.ca.empty()) return "no: plain text";
  return context.ca == Context::kSystem ? "by the CAs of this machine"
                                        : "by the CA that was given to hai init";
}

// An override that is easily forgotten is said with every answer.
void tell_override(const Session& session, const ContextConfig& config) {
  if (session.context.empty() || session.context == config.current) return;
  say(fmt::format("{} chooses {} here, whatever is the current one", chosen_by(session),
                  session.context));
}

int list(Session& session, const ContextOptions& options) {
  const Result<ContextConfig> config = load_contexts(context_config_path());
  if (!config.is_ok()) return session.fail(config.status());
  if (is_json(options.output)) {
    std::vector<Json> items;
    for (const Context& context : config.value().contexts) {
      items.push_back(context_json(session, config.value(), context));
    }
    print(format_json_list(items, options.output));
    return kOk;
  }
  if (config.value().contexts.empty()) {
    say("no cluster is known yet: `hai dev up` starts one on this machine, "
        "`hai init TOKEN --url grpc://HOST:PORT` joins one");
    return kOk;
  }
  Table table({{"CURRENT"}, {"NAME"}, {"SERVERS", false, true}, {"DEV CLUSTER IN", false, true}});
  for (const Context& context : config.value().contexts) {
    const bool is_current = context.name == config.value().current;
    table.add_row({is_current ? "*" : "",
                   {context.name, is_current ? Colour::bold : Colour::none},
                   join(context.servers, ", "),
                   context.dev_data});
  }
  print(table.render(session.terminal));
  tell_override(session, config.value());
  return kOk;
}

int show(Session& session, const ContextOptions& options) {
  const Result<ContextConfig> config = load_contexts(context_config_path());
  if (!config.is_ok()) return session.fail(config.status());
  const std::string& name = options.name.empty() ? session.context : options.name;
  const Result<Context> chosen = options.name.empty() ? choose_context(config.value(), name)
                                                      : named_context(config.value(), name);
  if (!chosen.is_ok()) return session.fail(chosen.status());
  const Context& context = chosen.value();
  if (is_json(options.output)) {
    print(format_json(context_json(session, config.value(), context), options.output));
    return kOk;
  }
  const auto line = [](std::string_view key, const std::string& value) {
    return value.empty() ? "" : fmt::format("{:<9} {}\n", key, printable(value));
  };
  const bool is_in_force = context.name == name_in_force(session, config.value());
  print(line("context", context.name) +
        line("in force", is_in_force ? "yes, by " + chosen_by(session) : "no") +
        line("servers", join(context.servers, ", ")) +
        line("token", context.token.empty() ? "none" : "kept, never shown") +
        line("tls", tls_line(context)) + line("dev data", context.dev_data) +
        line("file", context_config_path()));
  return kOk;
}

int edit(Session& session, const std::function<Status(ContextConfig&)>& change,
         const std::string& done) {
  const Status status = edit_contexts(context_config_path(), change);
  if (!status.is_ok()) return session.fail(status);
  print(done + "\n");
  return kOk;
}

int use(Session& session, const ContextOptions& options) {
  const int code = edit(
      session,
      [&](ContextConfig& config) {
        RETURN_IF_ERROR(named_context(config, options.name).status());
        config.current = options.name;
        return ok();
      },
      fmt::format("context {} is now the current one", options.name));
  if (code == kOk && !session.context.empty() && session.context != options.name) {
    say(fmt::format("{} still chooses {} here", chosen_by(session), session.context));
  }
  return code;
}

int rename(Session& session, const ContextOptions& options) {
  const Status name_status = check_context_name(options.new_name);
  if (!name_status.is_ok()) return session.usage_error(name_status.message());
  return edit(
      session,
      [&](ContextConfig& config) -> Status {
        const Result<Context> context = named_context(config, options.name);
        RETURN_IF_ERROR(context.status());
        if (!context.value().dev_data.empty()) {
          return failed_precondition(
              "context {} has the name of its dev cluster: `hai dev` finds it by that",
              options.name);
        }
        if (named_context(config, options.new_name).is_ok()) {
          return already_exists("there is a context {} already", options.new_name);
        }
        for (Context& known : config.contexts) {
          if (known.name == options.name) known.name = options.new_name;
        }
        if (config.current == options.name) config.current = options.new_name;
        return ok();
      },
      fmt::format("context {} is now called {}", options.name, options.new_name));
}

int remove(Session& session, const ContextOptions& options) {
  bool was_current = false;
  const int code = edit(
      session,
      [&](ContextConfig& config) -> Status {
        const Result<Context> context = named_context(config, options.name);
        RETURN_IF_ERROR(context.status());
        std::error_code error;
        const std::string& data = context.value().dev_data;
        if (!data.empty() && std::filesystem::exists(data, error)) {
          return failed_precondition(
              "context {0} is the only way to the dev cluster in {1}: `hai dev down --purge "
              "--name {0}` removes both",
              options.name, data);
        }
        was_current = config.current == options.name;
        remove_context(config, options.name);
        return ok();
      },
      fmt::format("context {} is forgotten, and its token with it", options.name));
  if (code == kOk && was_current) say("none is the current one now: `hai context use NAME`");
  return code;
}

}  // namespace

void add_context(CLI::App& app, Session& session) {
  CLI::App* context =
      app.add_subcommand("context", "Show, choose and forget clusters")->group("You");
  const auto options = std::make_shared<ContextOptions>();
  session.help[context] = {
      .details =
          "A context is a cluster with your token for it. --context, then $HAI_CONTEXT, "
          "then the current context decide which one a command talks to.",
      .examples = {{"hai context", "those you know; * marks the current one"},
                   {"hai context use prod", "talk to another one from now on"},
                   {"hai --context prod list", "only this time"},
                   {"hai context show", "the one in force, and why"},
                   {"hai context list -o json", "for scripts"},
                   {"hai context rename default prod", ""},
                   {"hai context remove old", "its token is forgotten, too"}}};
  add_output_option(*context, options->output);
  CLI::App* list_verb = context->add_subcommand("list", "Show those you know");
  add_output_option(*list_verb, options->output);
  CLI::App* show_verb = context->add_subcommand("show", "Show one, and why it is in force");
  show_verb->add_option("CONTEXT", options->name, "a name; the one in force by default");
  add_output_option(*show_verb, options->output);
  CLI::App* use_verb = context->add_subcommand("use", "Make one the current one");
  use_verb->add_option("CONTEXT", options->name, "a name")->required();
  CLI::App* rename_verb = context->add_subcommand("rename", "Give one another name");
  rename_verb->add_option("CONTEXT", options->name, "its name now")->required();
  rename_verb->add_option("NEW", options->new_name, "its new name")->required();
  CLI::App* remove_verb = context->add_subcommand("remove", "Forget one and its token");
  remove_verb->add_option("CONTEXT", options->name, "a name")->required();
  context->callback([=, &session] {
    const auto run = show_verb->parsed()     ? show
                     : use_verb->parsed()    ? use
                     : rename_verb->parsed() ? rename
                     : remove_verb->parsed() ? remove
                                             : list;
    session.exit_code = run(session, *options);
  });
}

}  // namespace hai::cli
