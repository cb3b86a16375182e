// docs/hai.md tells what becomes of every key of HAI's job files; it must say what the program
// does.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "common/spec/hai_keys.h"
#include "common/spec/job_spec_yaml.h"

namespace hai {
namespace {

struct KeyRow {
  std::string key, value, treatment, text;
};

// `| \`KEY\` | \`VALUE\` | TREATMENT | TEXT |`
std::vector<KeyRow> key_rows() {
  std::ifstream file(HAI_DOCS);
  std::vector<KeyRow> rows;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    for (size_t at = 0; at != std::string::npos && line.starts_with("| `");) {
      const size_t end = line.find(" |", at + 1);
      if (end == std::string::npos) break;
      std::string cell = line.substr(at + 1, end - at - 1);
      while (cell.starts_with(' ')) cell.erase(0, 1);
      if (cells.size() < 2 && cell.size() > 2) cell = cell.substr(1, cell.size() - 2);
      cells.push_back(cell);
      at = end + 1;
    }
    if (cells.size() == 4) rows.push_back({cells[0], cells[1], cells[2], cells[3]});
  }
  return rows;
}

// The smallest job file, with this key beside or in place of what it has.
std::string job_file(const KeyRow& row) {
  std::map<std::string, std::map<std::string, std::string>> sections = {
      {"spec", {{"workspace", "/w"}, {"entrypoint", "a.py"}}}};
  std::map<std::string, std::string> top = {{"version", "2"}, {"name", "j"}};
  const size_t dot = row.key.find('.');
  if (dot == std::string::npos) {
    top[row.key] = row.value;
  } else {
    sections[row.key.substr(0, dot)][row.key.substr(dot + 1)] = row.value;
  }
  std::string text;
  for (const auto& [key, value] : top) text += fmt::format("{}: {}\n", key, value);
  for (const auto& [section, keys] : sections) {
    text += section + ":\n";
    for (const auto& [key, value] : keys) text += fmt::format("  {}: {}\n", key, value);
  }
  return text;
}

TEST(HaiDocs, SayWhatEachKeyDoes) {
  const std::vector<KeyRow> rows = key_rows();
  EXPECT_EQ(rows.size(), 32u) << "all of the documented format";
  for (const KeyRow& row : rows) {
    JobSpec spec;
    std::vector<SpecError> errors;
    parse_job_spec(job_file(row), &spec, &errors);
    std::string said;
    for (const SpecError& error : errors) said += error.path + ": " + error.message + "\n";
    if (row.treatment == "taken") {
      EXPECT_EQ(said, "") << job_file(row);
    } else {
      EXPECT_EQ(row.treatment, "refused") << row.key;
      EXPECT_EQ(said, fmt::format("{}: not supported here: {}\n", row.key, row.text));
    }
  }
}

TEST(HaiDocs, HaveEveryKeyThatIsRefused) {
  std::set<std::string> told;
  for (const KeyRow& row : key_rows()) {
    if (row.treatment == "refused") told.insert(row.key);
  }
  std::set<std::string> refused;
  for (const HaiKey& key : unsupported_hai_keys()) refused.emplace(key.path);
  EXPECT_EQ(told, refused);
}

}  // namespace
}  // namespace hai
