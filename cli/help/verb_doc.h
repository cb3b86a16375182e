#pragma once
// A verb as its documentation shows it: taken from the parser, so that --help, the man pages and
// completion never say anything else than what is parsed.

#include <string>
#include <vector>

#include "cli/verb_help.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hai::cli {

struct OptionDoc {
  std::string label;  // "-n, --nodes N", "    --first", "JOB..."
  std::string text;
};

struct VerbLine {
  std::string name;
  std::string text;
};

struct VerbGroup {
  std::string title;
  std::vector<VerbLine> verbs;
};

struct VerbDoc {
  std::string path;   // "hai quota set"
  std::string usage;  // "hai quota set [OPTIONS] OWNER NODES"
  std::string description;
  VerbHelp help;
  std::vector<OptionDoc> operands;
  std::vector<OptionDoc> options;
  std::vector<VerbGroup> groups;  // of the verbs below it, in the order of the parser
};

std::string upper(std::string text);

VerbDoc doc_of(const CLI::App& verb, const HelpBook& book);

// The verbs that people see, without option groups and hidden ones.
std::vector<const CLI::App*> verbs_of(const CLI::App& parent);
// nullptr if `parent` has no such verb.
const CLI::App* verb_named(const CLI::App& parent, const std::string& name);
// Those of the verb and of its option groups, as they were added.
std::vector<const CLI::Option*> options_of(const CLI::App& verb);
// "N", "JOB", "table|wide": what stands for the option's value; "" for a flag.
std::string value_label(const CLI::Option& option);
// The words an option or operand takes; empty if it takes others too.
std::vector<std::string> value_words(const CLI::Option& option);

}  // namespace hai::cli
