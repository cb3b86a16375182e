#pragma once
// What was wrong with a command line, in one line: which word, what is allowed there, and what was
// probably meant. The parser's own texts speak of TEXT:{a,b} and end in several lines.

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace hai::cli {

std::string explain_parse_error(const CLI::App& app, const CLI::ParseError& error);

// The verb that was chosen, the innermost one: of `hai quota set`, set.
const CLI::App& chosen_verb(const CLI::App& app);
// "hai quota set"
std::string path_of(const CLI::App& verb);
// A verb of HAI-Platform's that hai has not: what to use instead; "" = no such verb.
std::string instead_of_hai_verb(const std::string& word);
std::string unknown_verb(const CLI::App& parent, const std::string& word);

}  // namespace hai::cli
