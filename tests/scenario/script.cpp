#include "tests/scenario/script.h"

#include <charconv>
#include <fstream>
#include <sstream>

namespace hai::test {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// "n12" → "n", 12
std::pair<std::string, int> split_number(const Line& line, const std::string& name) {
  size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits == name.size()) line.fail("'{}' has no number to count from", name);
  return {name.substr(0, digits), to_int(line, name.substr(digits))};
}

}  // namespace

const std::string& Line::word(size_t index, const char* what) const {
  if (index >= words.size()) fail("{}: {} is missing", command, what);
  return words[index];
}

std::optional<std::string> Line::take(const std::string& name) {
  auto it = options.find(name);
  if (it == options.end()) return std::nullopt;
  std::string value = it->second;
  options.erase(it);
  return value;
}

int Line::take_int(const std::string& name, int otherwise) {
  auto text = take(name);
  return text ? to_int(*this, *text) : otherwise;
}

bool Line::take_bool(const std::string& name, bool otherwise) {
  auto text = take(name);
  if (!text) return otherwise;
  if (*text != "yes" && *text != "no") fail("{}: must be yes or no, is '{}'", name, *text);
  return *text == "yes";
}

Duration Line::take_duration(const std::string& name, Duration otherwise) {
  auto text = take(name);
  return text ? to_duration(*this, *text) : otherwise;
}

void Line::expect_no_more_options() const {
  if (!options.empty()) fail("{}: unknown option {}", command, options.begin()->first);
}

std::vector<Line> read_script(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw ScenarioError(path + ": cannot be read");
  return parse_script(file, path);
}

std::vector<Line> parse_script(std::istream& input, const std::string& path) {
  std::vector<Line> lines;
  int number = 0;
  for (std::string text; std::getline(input, text);) {
    ++number;
    std::istringstream stream(text.substr(0, text.find('#')));
    Line line{.where = fmt::format("{}:{}", path, number), .text = text};
    if (!(stream >> line.command)) continue;
    for (std::string word; stream >> word;) {
      size_t equals = word.find('=');
      if (equals == std::string::npos) {
        line.words.push_back(word);
      } else if (!line.options.emplace(word.substr(0, equals), word.substr(equals + 1)).second) {
        line.fail("option {} is given twice", word.substr(0, equals));
      }
    }
    lines.push_back(std::move(line));
  }
  if (lines.empty()) throw ScenarioError(path + ": has no commands");
  return lines;
}

Duration to_duration(const Line& line, const std::string& text) {
  Result<Duration> parsed = parse_duration(text);
  if (!parsed.is_ok()) line.fail("{}", parsed.status().message());
  return parsed.value();
}

int to_int(const Line& line, const std::string& text) {
  int value = 0;
  auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    line.fail("'{}' is no number", text);
  return value;
}

std::vector<std::string> to_names(const Line& line, const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& part : split(text, ',')) {
    size_t dots = part.find("..");
    if (dots == std::string::npos) {
      names.push_back(part);
      continue;
    }
    auto [prefix, first] = split_number(line, part.substr(0, dots));
    auto [other, last] = split_number(line, part.substr(dots + 2));
    if (prefix != other || first > last) line.fail("'{}' is no range", part);
    for (int i = first; i <= last; ++i) names.push_back(prefix + std::to_string(i));
  }
  return names;
}

}  // namespace hai::test
