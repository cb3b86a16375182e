#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/child.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/python_environment.h"
#include "cli/session.h"
#include "cli/table.h"
#include "common/python_environment.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = "pyvenv.cfg";  // what makes a folder a venv (PEP 405)

struct EnvOptions {
  std::string name;
  std::string python = "python3";
  bool system_packages = false;
  OutputFormat output = OutputFormat::table;
};

fs::path folder_of(const EnvOptions& options) {
  return fs::path(environments_folder()) / options.name;
}

// "3.11.2", as its mark says it; "" if it says none.
std::string python_version(const fs::path& folder) {
  std::ifstream file(folder / kMark);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("version = ")) return line.substr(10);
  }
  return "";
}

// The exit code of what is wrong with the name; kOk if there is such an environment.
int look_for(Session& session, const EnvOptions& options) {
  if (const Status name = check_python_environment_name(options.name); !name.is_ok())
    return session.usage_error(name.message());
  std::error_code error;
  if (fs::is_regular_file(folder_of(options) / kMark, error)) return kOk;
  return session.fail(
      not_found("there is no environment {} in {}: `hai env list` shows those there are",
                options.name, environments_folder()));
}

int create(Session& session, const EnvOptions& options) {
  if (const Status name = check_python_environment_name(options.name); !name.is_ok())
    return session.usage_error(name.message());
  const fs::path folder = folder_of(options);
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error))) {
    return session.fail(already_exists("{} is there already: remove it with `hai env remove {}`",
                                       folder.string(), options.name));
  }
  fs::create_directories(folder.parent_path(), error);
  if (error) {
    return session.fail(
        failed_precondition("{}: {}", folder.parent_path().string(), error.message()));
  }
  std::vector<std::string> words = {options.python, "-m", "venv", folder.string()};
  if (options.system_packages) words.emplace_back("--system-site-packages");
  if (const int code = run_child(words); code != 0) {
    fs::remove_all(folder, error);
    if (code == 127) {
      return session.fail(
          failed_precondition("{}: no such program here; --python says which", options.python));
    }
    return session.fail(
        failed_precondition("`{} -m venv` failed with exit code {}; Debian has it in python3-venv",
                            options.python, code));
  }
  print(folder.string() + "\n");
  say(fmt::format("here: source {0}/bin/activate; in a job: hai python FILE -- -n 1 --venv {1}",
                  folder.string(), options.name));
  return kOk;
}

int list(Session& session, const EnvOptions& options) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(environments_folder(), error)) {
    if (fs::is_regular_file(entry.path() / kMark, error)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  std::vector<Json> items;
  Table table({{"NAME"}, {"PYTHON"}, {"FOLDER", false, true}});
  const std::string active = active_environment();
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    const bool is_active = folder == fs::path(active);
    items.push_back({{"name", name},
                     {"python", python_version(folder)},
                     {"folder", folder.string()},
                     {"active", is_active}});
    table.add_row({name, python_version(folder), folder.string() + (is_active ? " (active)" : "")});
  }
  print(is_json(options.output) ? format_json_list(items, options.output)
                                : table.render(session.terminal));
  return kOk;
}

int path(Session& session, const EnvOptions& options) {
  if (const int code = look_for(session, options); code != kOk) return code;
  print(folder_of(options).string() + "\n");
  return kOk;
}

int remove(Session& session, const EnvOptions& options) {
  if (const int code = look_for(session, options); code != kOk) return code;
  const fs::path folder = folder_of(options);
  std::error_code error;
  fs::remove_all(folder, error);  // of a link, only the link
  if (error) {
    return session.fail(failed_precondition("{}: {}", folder.string(), error.message()));
  }
  say(fmt::format("environment {} removed; jobs that still ask for it fail to start",
                  options.name));
  return kOk;
}

}  // namespace

void add_env(CLI::App& app, Session& session) {
  CLI::App* env =
      app.add_subcommand("env", "Keep Python environments by name, for jobs")->group("Submit");
  const auto options = std::make_shared<EnvOptions>();
  env->require_subcommand(1);
  session.help[env] = {
      .details =
          "They are plain venvs in ~/.hai/envs (or $HAIENV_PATH), on the homes that nodes share. "
          "A job asks for one by --venv NAME, options.py_venv of its file, or NAME[OWNER] for "
          "somebody else's; `hai python` takes the one that is active. Those of conda and others "
          "go by their folder: --venv /PATH.",
      .examples = {{"hai env create llm", ""},
                   {"source $(hai env path llm)/bin/activate", "use it here: pip install ..."},
                   {"hai python train.py -- -n 4 --venv llm", "and in a job"}}};
  CLI::App* create_verb = env->add_subcommand("create", "Make one");
  create_verb->add_option("NAME", options->name, "of it")->required();
  create_verb->add_option("-p,--python", options->python, "whose Python; default: python3");
  create_verb->add_flag("--system-site-packages", options->system_packages,
                        "with the packages that are installed for all");
  create_verb->callback([&session, options] { session.exit_code = create(session, *options); });
  CLI::App* list_verb = env->add_subcommand("list", "Show yours");
  add_output_option(*list_verb, options->output);
  list_verb->callback([&session, options] { session.exit_code = list(session, *options); });
  CLI::App* path_verb = env->add_subcommand("path", "Print its folder");
  path_verb->add_option("NAME", options->name, "as hai env list shows it")->required();
  path_verb->callback([&session, options] { session.exit_code = path(session, *options); });
  CLI::App* remove_verb = env->add_subcommand("remove", "Delete one and what is installed in it");
  remove_verb->add_option("NAME", options->name, "as hai env list shows it")->required();
  remove_verb->callback([&session, options] { session.exit_code = remove(session, *options); });
}

}  // namespace hai::cli
