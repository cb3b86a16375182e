#include "cli/complete/candidates.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/context_config.h"
#include "cli/format.h"
#include "cli/help/verb_doc.h"
#include "cli/table.h"
#include "common/job_spec.h"

namespace hai::cli {
namespace {

std::vector<Candidate> verb_candidates(const CLI::App& parent) {
  std::vector<Candidate> found;
  for (const CLI::App* verb : verbs_of(parent)) {
    found.push_back({verb->get_name(), verb->get_description()});
  }
  return found;
}

// Long names only, unless a single letter is what is typed.
std::vector<Candidate> option_candidates(const Cursor& cursor) {
  std::vector<Candidate> found;
  for (const CLI::App* app = cursor.verb; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : options_of(*app)) {
      if (!option->nonpositional()) continue;
      const bool is_repeated = app != cursor.verb && option == app->get_help_ptr();
      if (is_repeated) continue;
      for (const std::string& name : option->get_lnames()) {
        found.push_back({"--" + name, option->get_description()});
        break;  // the other spellings are HAI's
      }
      if (option->get_lnames().empty()) {
        for (const std::string& name : option->get_snames()) {
          found.push_back({"-" + name, option->get_description()});
        }
      }
    }
  }
  return found;
}

std::vector<Candidate> plain(const std::vector<std::string>& words) {
  std::vector<Candidate> found;
  for (const std::string& word : words) found.push_back({word});
  return found;
}

std::vector<Candidate> priorities() {
  std::vector<Candidate> found = {{"auto", "-1: the highest with quota left"}};
  for (const Priority priority : kPriorities) {
    found.push_back({std::string(to_string(priority)), std::to_string(static_cast<int>(priority))});
  }
  return found;
}

std::vector<Candidate> contexts(bool only_dev) {
  const Result<ContextConfig> config = load_contexts(context_config_path());
  std::vector<Candidate> found;
  if (!config.is_ok()) return found;
  for (const Context& context : config.value().contexts) {
    if (only_dev && context.dev_data.empty()) continue;
    found.push_back({context.name, join(context.servers, ", ")});
  }
  return found;
}

// By the name that --help has for the value.
std::vector<Candidate> value_candidates(const Cursor& cursor, const Connect& connect) {
  const std::vector<std::string> words = value_words(*cursor.option);
  if (!words.empty()) return plain(words);
  const std::string label =
      cursor.option->nonpositional() ? value_label(*cursor.option) : cursor.option->get_name(true);
  if (label == "PRIORITY") return priorities();
  if (label == "CONTEXT") return contexts(false);
  if (label == "CLUSTER") return contexts(true);
  if (label == "SIGNAL") return plain({"SIGUSR1", "SIGUSR2", "SIGTERM", "SIGINT", "SIGHUP"});
  if (label == "FILE" || label.ends_with("]FILE")) return plain({std::string(kAskFiles)});
  if (label.ends_with("PATH")) return plain({std::string(kAskFiles)});
  if (label == "DIRECTORY") return plain({std::string(kAskDirectories)});
  if (label == "VERB") {
    const CLI::App* root = cursor.verb;
    while (root->get_parent() != nullptr) root = root->get_parent();
    return verb_candidates(*root);
  }
  if (!is_live(label)) return {};
  const std::shared_ptr<Client> client = connect();
  return client == nullptr ? std::vector<Candidate>() : live_candidates(label, cursor, *client);
}

std::vector<Candidate> all_candidates(const Cursor& cursor, const Connect& connect) {
  switch (cursor.kind) {
    case Cursor::Kind::verb:
      return verb_candidates(*cursor.verb);
    case Cursor::Kind::option:
      return option_candidates(cursor);
    case Cursor::Kind::value:
      return value_candidates(cursor, connect);
    case Cursor::Kind::program: {
      std::vector<Candidate> found = {{std::string(kAskFiles)}};
      if (cursor.verb->get_name() == "exec") found.push_back({std::string(kAskCommands)});
      if (cursor.word.starts_with('-')) {
        found.push_back({"--", "hai's own options follow, e.g. -- -n 4"});
      }
      return found;
    }
    case Cursor::Kind::nothing:
      return {};
  }
  return {};
}

}  // namespace

std::vector<Candidate> candidates(const Cursor& cursor, const Connect& connect) {
  std::vector<Candidate> found = all_candidates(cursor, connect);
  std::erase_if(found, [&](const Candidate& candidate) {
    return !candidate.text.starts_with(':') && !candidate.text.starts_with(cursor.word);
  });
  if (found.size() > kCandidatesMax) found.resize(kCandidatesMax);
  for (Candidate& candidate : found) {
    if (!candidate.text.starts_with(':')) candidate.text = cursor.before + candidate.text;
  }
  return found;
}

std::string format_candidates(const std::vector<Candidate>& candidates) {
  std::string out;
  for (const Candidate& candidate : candidates) {
    out += printable(candidate.text);
    if (!candidate.description.empty()) out += "\t" + printable(candidate.description);
    out += "\n";
  }
  return out;
}

}  // namespace hai::cli
