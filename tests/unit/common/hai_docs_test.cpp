// docs/hai.md tells what becomes of every key of HAI's job files; it must say what the program
// does.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "common/life_state.h"
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

// Job files as HAI's users have them, after the keys of its documentation. What must be told of
// each stands in it: "# expect-warning: KEY" and "# expect-error: KEY: TEXT", in the order of its
// lines.
TEST(HaiJobFiles, AreTakenAsTheyStand) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HAI_JOB_FILES)) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    std::ifstream file(entry.path());
    std::string text, expected;
    for (std::string line; std::getline(file, line); text += line + "\n") {
      if (line.starts_with("# expect-")) expected += line.substr(9) + "\n";
    }
    JobSpec spec;
    std::vector<SpecError> errors, warnings;
    const bool is_taken = parse_job_spec(text, &spec, &errors, &warnings);
    std::string told;
    for (const SpecError& warning : warnings) {
      told += "warning: " + warning.path + "\n";
      EXPECT_EQ(warning.message, "not supported here; it asks for nothing and is left out");
      EXPECT_GT(warning.line, 0) << warning.path;
    }
    for (const SpecError& error : errors) {
      told += "error: " + error.path + ": " + error.message + "\n";
    }
    EXPECT_EQ(told, expected) << entry.path();
    if (!is_taken) continue;
    JobSpec again;
    EXPECT_TRUE(parse_job_spec(format_job_spec_yaml(spec), &again, &errors, &warnings));
    EXPECT_EQ(again, spec) << entry.path();
    EXPECT_TRUE(warnings.empty());
  }
  EXPECT_GE(count, 5u);
}

TEST(HaiJobFiles, TheirNamesMeanWhatTheyDoThere) {
  const auto read = [](const std::string& more) {
    JobSpec spec;
    std::vector<SpecError> errors;
    const bool is_taken = parse_job_spec(
        "version: 2\nname: j\nspec: {workspace: /w, entrypoint: a.py}\n" + more, &spec, &errors);
    EXPECT_TRUE(is_taken) << more << (errors.empty() ? "" : to_string(errors[0]));
    return spec;
  };
  const JobSpec parts = read("resource: {gpu: 4, cpu: 16, memory: 64Gi, is_spot: true}\n");
  EXPECT_EQ(parts.gpus_per_node, 4);
  EXPECT_EQ(parts.cpus_per_node, 16);
  EXPECT_EQ(parts.memory_per_node_bytes, int64_t{64} << 30);
  EXPECT_EQ(parts.priority, Priority::low);
  EXPECT_EQ(read("resource: {gpu: 4, gpus_per_node: 2}\n").gpus_per_node, 2);
  EXPECT_EQ(read("resource: {gpu: 0, cpu: 0, memory: 0}\n").gpus_per_node, 0);
  EXPECT_EQ(read("priority: low\nresource: {is_spot: true}\n").priority, Priority::low);
  EXPECT_EQ(read("priority: 30\nresource: {is_spot: false}\n").priority, Priority::high);
  EXPECT_EQ(read("options: {whole_life_state: 7}\n").environments.at(kFirstLifeState), "7");
  EXPECT_TRUE(read("options: {whole_life_state: 0}\n").environments.empty());
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
