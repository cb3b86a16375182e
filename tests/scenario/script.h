#pragma once
// The text of a scenario: one command per line, words separated by blanks, `name=value` options,
// and # comments. Errors name file and line.

#include <iosfwd>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/time.h"

namespace hai::test {

// A scenario that went wrong, or a line that makes no sense; what() begins with file:line.
class ScenarioError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Line {
  std::string where;  // file:line
  std::string text;   // as written
  std::string command;
  std::vector<std::string> words;              // the positional ones after the command
  std::map<std::string, std::string> options;  // name=value

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw ScenarioError(
        fmt::format("{}: {}\n  {}", where, fmt::format(format, std::forward<Args>(args)...), text));
  }
  const std::string& word(size_t index, const char* what) const;
  // Takes the option away, so that what is left over is unknown.
  std::optional<std::string> take(const std::string& name);
  int take_int(const std::string& name, int otherwise);
  bool take_bool(const std::string& name, bool otherwise);
  Duration take_duration(const std::string& name, Duration otherwise);
  void expect_no_more_options() const;
};

std::vector<Line> read_script(const std::string& path);
std::vector<Line> parse_script(std::istream& input, const std::string& path);

Duration to_duration(const Line& line, const std::string& text);
int to_int(const Line& line, const std::string& text);
// "n1..n4,n7" → n1 n2 n3 n4 n7
std::vector<std::string> to_names(const Line& line, const std::string& text);

}  // namespace hai::test
