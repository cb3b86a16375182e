#include "cli/help/parse_error.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <utility>

#include "cli/help/verb_doc.h"
#include "common/nearest.h"

namespace hai::cli {
namespace {

std::string see_help(const CLI::App& verb) { return fmt::format("; see {} --help", path_of(verb)); }

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::vector<std::string> option_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::App* app = &verb; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : options_of(*app)) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

// By the name the parser's texts have for it: "--nodes", "FILE".
const CLI::Option* option_named(const CLI::App& verb, const std::string& name) {
  for (const CLI::App* app = &verb; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : options_of(*app)) {
      if (option->check_name(name) || option->get_name(true) == name) return option;
    }
  }
  return nullptr;
}

std::string unknown_option(const CLI::App& verb, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const std::string near = name.starts_with("--") ? nearest(name, option_names(verb)) : "";
  const std::string hint = near.empty() ? see_help(verb) : fmt::format(": did you mean {}?", near);
  return fmt::format("{} has no option '{}'{}", path_of(verb), name, hint);
}

// What does the work of verbs that others have, and that people look for here; "" if none does.
std::string_view done_by(const CLI::App& parent, const std::string& word) {
  struct Elsewhere {
    std::string_view verb;
    std::string_view instead;
  };
  static constexpr Elsewhere kElsewhere[] = {
      {"hai backup", "`hai-backup create` on a server's machine makes one (hai-backup --help)"},
      {"hai restore",
       "`hai-backup restore FILE`, or `hai-backup restore --to TIME` on a machine of "
       "the store (hai-backup --help)"},
      {"hai node add",
       "a machine adds itself: `hai node token create NAME` prints the line to run "
       "on it"},
      {"hai node rename",
       "`hai node remove NODE` once it is down, and `hai-agent join --name "
       "NEW` there with its /etc/hai/agent.yaml moved away"},
      {"hai user rename",
       "history and Unix accounts go by the name: `hai user add NEW`, and `hai "
       "user remove OLD` once his jobs have ended"},
      {"hai label", "`hai node set NODE --labels a,b`"},
      {"hai version", "`hai --version` says it"}};
  const std::string path = path_of(parent) + " " + word;
  for (const Elsewhere& each : kElsewhere) {
    if (each.verb == path) return each.instead;
  }
  return "";
}

// What others call a verb: nearer in meaning than the one that is spelled most alike ("show" is not
// "stop", and "uncordon" not "cordon"). "" if it is not known.
std::string_view called_elsewhere(const std::string& word) {
  struct Verb {
    std::string_view name;
    std::string_view others;  // with blanks around each
  };
  static constexpr Verb kVerbs[] = {
      {"stop", " cancel delete del kill rm scancel terminate "},
      {"list", " history jobs ls ps squeue "},
      {"status", " get info show "},
      {"nodes", " sinfo "},
      {"run", " apply create sbatch start submit "},
      {"exec", " srun "},
      {"logs", " attach log tail "},
      {"suspend", " pause "},
      {"resume", " continue unpause "},
      {"requeue", " restart "},
      {"rerun", " resubmit retry "},
      {"edit", " scontrol update "},
      {"cordon", " taint "},
      {"drain", " evict "},
      {"undrain", " uncordon unfence untaint "},
  };
  for (const Verb& verb : kVerbs) {
    if (verb.others.find(" " + word + " ") != std::string_view::npos) return verb.name;
  }
  return "";
}

std::string missing_verb(const CLI::App& parent) {
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs_of(parent)) names.push_back(verb->get_name());
  if (parent.get_parent() == nullptr) return "no verb was given" + see_help(parent);
  return fmt::format("{} needs a verb: {}", path_of(parent), joined(names, ", "));
}

// What the parser could not place. An option's name tells more than the words after it.
std::string unexpected(const CLI::App& verb) {
  std::string operand;
  const CLI::App* root = &verb;
  while (root->get_parent() != nullptr) root = root->get_parent();
  // `hai artifact list` has a verb behind the word that is none.
  for (const std::string& word : root->remaining()) {
    if (std::string instead = instead_of_hai_verb(word); !instead.empty()) return instead;
  }
  for (const CLI::App* app = &verb; app != nullptr; app = app->get_parent()) {
    for (const std::string& word : app->remaining()) {
      if (word == "--") continue;
      if (word.size() > 1 && word.starts_with('-')) {
        const bool is_verb = !operand.empty() && !done_by(verb, operand).empty();
        return is_verb ? unknown_verb(verb, operand) : unknown_option(verb, word);
      }
      if (operand.empty()) operand = word;
    }
  }
  if (operand.empty()) return "";
  if (!verbs_of(verb).empty()) return unknown_verb(verb, operand);
  return fmt::format("{} has no place for '{}'{}", path_of(verb), operand, see_help(verb));
}

// "--nodes: Value x not in range 1 to 100" and "--state: x not in {a,b}".
std::string bad_value(const CLI::App& verb, const std::string& text) {
  const size_t colon = text.find(": ");
  const std::string name = text.substr(0, colon);
  const CLI::Option* option = option_named(verb, name);
  if (colon == std::string::npos || option == nullptr) return text + see_help(verb);
  const std::string rest = text.substr(colon + 2);
  const std::vector<std::string> words = value_words(*option);
  if (const size_t end = rest.find(" not in {"); !words.empty() && end != std::string::npos) {
    const std::string value = rest.substr(0, end);
    const std::string near = nearest(value, words);
    return fmt::format("{}: '{}' is none of {}{}", name, value, joined(words, ", "),
                       near.empty() ? "" : fmt::format(": did you mean {}?", near));
  }
  const size_t range = rest.find(" not in range ");
  if (rest.starts_with("Value ") && range != std::string::npos) {
    std::string limits = rest.substr(range + 14);
    return fmt::format("{}: '{}' is no number from {}", name, rest.substr(6, range - 6), limits);
  }
  return text + see_help(verb);
}

// "Could not convert: --nodes = x"
std::string no_number(const CLI::App& verb, const std::string& text) {
  constexpr std::string_view kStart = "Could not convert: ";
  const size_t equals = text.find(" = ");
  if (!text.starts_with(kStart) || equals == std::string::npos) return text + see_help(verb);
  return fmt::format("{}: '{}' is no number", text.substr(kStart.size(), equals - kStart.size()),
                     text.substr(equals + 3));
}

// "--nodes: 1 required INT missing"
std::string missing_value(const CLI::App& verb, const std::string& text) {
  const std::string name = text.substr(0, text.find(": "));
  const CLI::Option* option = option_named(verb, name);
  if (option == nullptr || !text.ends_with(" missing")) return text + see_help(verb);
  return fmt::format("{} needs a value: {} {}", name, name, value_label(*option));
}

// "FILE is required", "A subcommand is required", "Exactly 1 option from [--a,--b] is required"
std::string missing(const CLI::App& verb, const std::string& text) {
  if (text.starts_with("A subcommand")) {
    const std::string stray = unexpected(verb);
    return stray.empty() ? missing_verb(verb) : stray;
  }
  const size_t open = text.find('[');
  const size_t close = text.find(']');
  if (text.starts_with("Exactly 1") && open != std::string::npos && close != std::string::npos) {
    std::string names;
    for (const char c : text.substr(open + 1, close - open - 1)) {
      names += c;
      if (c == ',') names += ' ';
    }
    return fmt::format("{} needs exactly one of {}{}", path_of(verb), names, see_help(verb));
  }
  const std::string name = text.substr(0, text.find(" is required"));
  return fmt::format("{} needs {}{}", path_of(verb), name, see_help(verb));
}

}  // namespace

const CLI::App& chosen_verb(const CLI::App& app) {
  for (const CLI::App* inner : app.get_subcommands()) {
    if (!inner->get_name().empty()) return chosen_verb(*inner);
  }
  return app;
}

std::string path_of(const CLI::App& verb) {
  const CLI::App* parent = verb.get_parent();
  return parent == nullptr ? verb.get_name() : path_of(*parent) + " " + verb.get_name();
}

std::string instead_of_hai_verb(const std::string& word) {
  constexpr auto kVerbs = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"artifact",
        "results are files where the nodes see them; a tag (hai edit JOB --tag NAME) finds the job "
        "that made them (hai list --tag NAME)"},
       {"monitor", "use the dashboard, hai top, or hai status without a job"},
       {"prof", "start the profiler from the entrypoint"}});
  for (const auto& [verb, instead] : kVerbs) {
    if (verb == word) return fmt::format("there is no hai {} here: {}", verb, instead);
  }
  return "";
}

std::string unknown_verb(const CLI::App& parent, const std::string& word) {
  const bool is_first = parent.get_parent() == nullptr;
  if (is_first) {
    if (const std::string instead = instead_of_hai_verb(word); !instead.empty()) return instead;
  }
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs_of(parent)) names.push_back(verb->get_name());
  const std::string_view known = is_first ? called_elsewhere(word) : "";
  const std::string near = known.empty() ? nearest(word, names) : std::string(known);
  const std::string what = is_first ? fmt::format("unknown verb '{}'", word)
                                    : fmt::format("{} has no verb '{}'", path_of(parent), word);
  const std::string_view instead = done_by(parent, word);
  if (!instead.empty()) return fmt::format("{}: {}", what, instead);
  return near.empty() ? what + see_help(parent) : fmt::format("{}: did you mean {}?", what, near);
}

std::string explain_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& verb = chosen_verb(app);
  const std::string kind = error.get_name();
  const std::string text = error.what();
  // By its code: the parser names this error after the verb.
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    const std::string line = unexpected(verb);
    return line.empty() ? text + see_help(verb) : line;
  }
  if (kind == "RequiredError") return missing(verb, text);
  if (kind == "ValidationError") return bad_value(verb, text);
  if (kind == "ConversionError") return no_number(verb, text);
  if (kind == "ArgumentMismatch") return missing_value(verb, text);
  return text + see_help(verb);
}

}  // namespace hai::cli
