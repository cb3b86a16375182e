#include "cli/help/verb_doc.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/help/parse_error.h"

namespace hai::cli {
namespace {

// A verb that does not name its values gets the last word of the option: --for-user USER.
std::string default_label(const CLI::Option& option) {
  if (option.get_lnames().empty()) return "VALUE";
  const std::string& name = option.get_lnames().front();
  return upper(name.substr(name.rfind('-') + 1));
}

// Short and long names in the order people expect: -n, --nodes. HAI's other spellings follow.
std::string names_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  if (names.empty()) names = "    ";
  bool first = names == "    ";
  for (const std::string& name : option.get_lnames()) {
    names += (first ? "--" : ", --") + name;
    first = false;
  }
  return names;
}

bool takes_many(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::string operand_label(const CLI::Option& option) {
  return option.get_name(/*positional=*/true) + (takes_many(option) ? "..." : "");
}

OptionDoc operand_doc(const CLI::Option& option) {
  const std::vector<std::string> words = value_words(option);
  std::string text = option.get_description();
  if (text.empty() && !words.empty()) {
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  }
  return {operand_label(option), text};
}

OptionDoc option_doc(const CLI::Option& option) {
  const std::string value = value_label(option);
  return {names_of(option) + (value.empty() ? "" : " " + value), option.get_description()};
}

// "(--before JOB | --first | --last)"
std::string choice_usage(const CLI::App& group) {
  std::string usage;
  for (const CLI::Option* option : group.get_options()) {
    if (option == group.get_help_ptr()) continue;
    const std::string value = value_label(*option);
    usage += (usage.empty() ? "(" : " | ") + ("--" + option->get_lnames().front()) +
             (value.empty() ? "" : " " + value);
  }
  return usage.empty() ? "" : usage + ")";
}

std::string usage_of(const CLI::App& verb) {
  std::string usage;
  std::string operands;
  bool has_options = false;
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->nonpositional()) {
      const std::string label = operand_label(*option);
      operands += " " + (option->get_required() ? label : "[" + label + "]");
    } else if (option->get_required()) {
      usage += " --" + option->get_lnames().front() + " " + value_label(*option);
    } else {
      has_options = true;
    }
  }
  for (const CLI::App* group : verb.get_subcommands({})) {
    if (group->get_name().empty()) usage += " " + choice_usage(*group);
  }
  if (has_options) usage = " [OPTIONS]" + usage;
  if (!verbs_of(verb).empty()) usage += verb.get_require_subcommand_min() > 0 ? " VERB" : " [VERB]";
  return usage + operands;
}

// Those of the verb above that show this one: `hai quota` has the examples of `hai quota set`.
std::vector<Example> examples_above(const CLI::App& verb, const std::string& path,
                                    const HelpBook& book) {
  std::vector<Example> examples;
  const auto found = book.find(verb.get_parent());
  if (found == book.end() || verb.get_parent()->get_parent() == nullptr) return examples;
  for (const Example& example : found->second.examples) {
    const bool is_longer_word =
        example.command.size() > path.size() && example.command[path.size()] != ' ';
    if (example.command.starts_with(path) && !is_longer_word) examples.push_back(example);
  }
  return examples;
}

}  // namespace

std::string upper(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return word;
}

std::vector<const CLI::App*> verbs_of(const CLI::App& parent) {
  std::vector<const CLI::App*> verbs;
  for (const CLI::App* verb : parent.get_subcommands({})) {
    if (!verb->get_name().empty() && !verb->get_group().empty()) verbs.push_back(verb);
  }
  return verbs;
}

const CLI::App* verb_named(const CLI::App& parent, const std::string& name) {
  for (const CLI::App* verb : parent.get_subcommands({})) {
    if (!verb->get_name().empty() && verb->check_name(name)) return verb;
  }
  return nullptr;
}

std::vector<const CLI::Option*> options_of(const CLI::App& verb) {
  std::vector<const CLI::Option*> options;
  const auto add = [&](const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
      const bool is_repeated = app.get_name().empty() && option == app.get_help_ptr();
      if (!option->get_group().empty() && !is_repeated) options.push_back(option);
    }
  };
  add(verb);
  for (const CLI::App* group : verb.get_subcommands({})) {
    if (group->get_name().empty()) add(*group);
  }
  return options;
}

std::vector<std::string> value_words(const CLI::Option& option) {
  // The parser knows them only as a text: TEXT:{table,wide,json}
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

std::string value_label(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::vector<std::string> words = value_words(option);
  if (!words.empty()) {
    std::string label;
    for (const std::string& word : words) label += (label.empty() ? "" : "|") + word;
    return label;
  }
  const std::string type = option.get_type_name();
  const std::string name = type.substr(0, type.find(':'));
  if (name == "INT" || name == "UINT" || name == "FLOAT") return "N";
  return name == "TEXT" || name.empty() ? default_label(option) : name;
}

VerbDoc doc_of(const CLI::App& verb, const HelpBook& book) {
  VerbDoc doc;
  doc.path = path_of(verb);
  doc.description = verb.get_description();
  if (const auto found = book.find(&verb); found != book.end()) doc.help = found->second;
  if (doc.help.details.empty()) doc.help.details = verb.get_footer();
  if (doc.help.examples.empty()) doc.help.examples = examples_above(verb, doc.path, book);
  doc.usage = doc.path + (doc.help.usage.empty() ? usage_of(verb) : " " + doc.help.usage);
  for (const CLI::Option* option : options_of(verb)) {
    if (option->nonpositional()) {
      doc.options.push_back(option_doc(*option));
    } else {
      doc.operands.push_back(operand_doc(*option));
    }
  }
  // As with every other program, --help stands last.
  std::stable_partition(doc.options.begin(), doc.options.end(), [](const OptionDoc& option) {
    return option.label.find("--help") == std::string::npos;
  });
  for (const CLI::App* inner : verbs_of(verb)) {
    const bool is_top = verb.get_parent() == nullptr;
    const std::string title = is_top ? inner->get_group() : "Verbs";
    const auto found = std::find_if(doc.groups.begin(), doc.groups.end(),
                                    [&](const VerbGroup& group) { return group.title == title; });
    VerbGroup& group = found == doc.groups.end() ? doc.groups.emplace_back() : *found;
    group.title = title;
    group.verbs.push_back({inner->get_name(), inner->get_description()});
  }
  return doc;
}

}  // namespace hai::cli
