// Every key of a job file with every type of value that is not its own: one clear error that names
// the key. A key that is read or documented and has no row here is an error, too.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "common/spec/job_keys.h"
#include "common/spec/job_spec_yaml.h"

namespace hai {
namespace {

// By the letters of kKeys.
const std::map<char, std::vector<std::string>> kValues = {
    {'n', {"5"}},
    {'f', {"5.5", "1e3", "-0.5"}},
    {'b', {"true", "False"}},
    {'t', {"'some text'"}},
    {'l', {"[a, b]"}},
    {'N', {"[7]", "[7.5]", "[true]"}},  // what a list of texts has not
    {'L', {"[[a]]", "[{name: web, port: 80}, c]", "[~]"}},
    {'m', {"{a: b}"}},
    {'M', {"{a: [b]}"}},
};

// Each key, and the letters of the values that may stand there (whether they are good is judged
// elsewhere).
const std::map<std::string, std::string> kKeys = {
    {"version", "n"},
    {"name", "tn"},
    {"task_type", "t"},
    {"priority", "tn"},
    {"array", "tn"},
    {"spec.workspace", "t"},
    {"spec.entrypoint", "t"},
    {"spec.parameters", "tnfblN"},
    {"spec.environments", "m"},
    {"spec.secrets", "m"},
    {"spec.entrypoint_executable", "b"},
    {"spec.git_remote_repo", ""},
    {"spec.git_target_revision", ""},
    {"resource.group", "t"},
    {"resource.node_count", "n"},
    {"resource.gpus_per_node", "n"},
    {"resource.cpus_per_node", "n"},
    {"resource.memory_per_node", "n"},
    {"resource.gpu_type", "tnf"},
    {"resource.labels", "tl"},
    {"resource.nodes", "t"},
    {"resource.exclude_nodes", "t"},
    {"resource.image", "t"},
    {"resource.mounts", "tl"},
    {"resource.is_spot", "b"},
    {"resource.gpu", "n"},
    {"resource.cpu", "n"},
    {"resource.memory", ""},
    {"services", "tl"},
    {"options.launch", "t"},
    {"options.env_style", "t"},
    {"options.suspend.grace", "n"},
    {"options.suspend.signal", "t"},
    {"options.suspend.exit_code", "n"},
    {"options.checkpoint.period", "n"},
    {"options.restart.on_failure", "b"},
    {"options.restart.max", "n"},
    {"options.timeout", "n"},
    {"options.watchdog", "n"},
    {"options.core_size", "n"},
    {"options.max_leaves", "n"},
    {"options.cross_zone", "t"},
    {"options.interactive", "b"},
    {"options.release_early", "b"},
    {"options.tags", "tl"},
    {"options.depends_on", "tnl"},
    {"options.begin_at", "t"},
    {"options.whole_life_state", "n"},
    {"options.mount_code", ""},
    {"options.py_venv", "tn"},
    {"options.override_node_resource", ""},
    {"options.profile", ""},
    {"options.shared_in_group", "b"},
    {"options.record_git_revision", ""},
    {"options.watchdog_time", "n"},
    {"options.sidecar", ""},
    {"options.assigned_nodes", "l"},
    {"options.fffs_enable_fuse", ""},
};

// The smallest job file, with this key beside or in place of what it has.
std::string job_file(const std::string& key, const std::string& value) {
  std::map<std::string, std::string> lines = {
      {"version", "2"}, {"name", "j"}, {"spec.workspace", "/w"}, {"spec.entrypoint", "a.py"}};
  lines[key] = value;
  std::string text, section;
  for (const auto& [path, line] : lines) {
    const size_t dot = path.find('.');
    const std::string around = path.substr(0, dot == std::string::npos ? 0 : dot);
    if (around.empty()) {
      text = fmt::format("{}: {}\n", path, line) + text;
      continue;
    }
    if (section != around) text += around + ":\n";
    section = around;
    const std::string rest = path.substr(dot + 1);
    const size_t second = rest.find('.');
    text += second == std::string::npos ? fmt::format("  {}: {}\n", rest, line)
                                        : fmt::format("  {}: {{{}: {}}}\n", rest.substr(0, second),
                                                      rest.substr(second + 1), line);
  }
  return text;
}

// The key itself, or a part of it: "options.tags[1]", "spec.environments.A".
bool is_of(std::string_view path, std::string_view key) {
  return path.starts_with(key) &&
         (path.size() == key.size() || path[key.size()] == '[' || path[key.size()] == '.');
}

TEST(JobKeyTypes, AWrongOneIsOneErrorThatNamesTheKey) {
  for (const auto& [key, right] : kKeys) {
    for (const auto& [letter, values] : kValues) {
      if (right.find(letter) != std::string::npos) continue;
      for (const std::string& value : values) {
        // `False` is how HAI's files say that nothing is asked for; an id or a port in a list is
        // right.
        const bool may_be_off =
            right.empty() || key == "options.assigned_nodes" || key == "options.py_venv";
        if (may_be_off && value == "False") continue;
        if (value == "[7]" && (key == "services" || key == "options.depends_on")) continue;
        const std::string file = job_file(key, value);
        JobSpec spec;
        std::vector<SpecError> errors;
        EXPECT_FALSE(parse_job_spec(file, &spec, &errors)) << file;
        EXPECT_EQ(errors.size(), 1u) << file << to_status(errors).message();
        if (errors.size() != 1) continue;
        EXPECT_TRUE(is_of(errors[0].path, key)) << file << to_string(errors[0]);
        EXPECT_GT(errors[0].line, 0) << file;
        EXPECT_GT(errors[0].message.size(), 10u) << file << to_string(errors[0]);
      }
    }
  }
}

TEST(JobKeyTypes, NoKeyEscapes) {
  std::set<std::string> all;
  JobSpec spec;
  for_each_key(spec, [&](std::string_view path, auto&&...) { all.emplace(path); });
  std::ifstream docs(HAI_DOCS);
  for (std::string line; std::getline(docs, line);) {
    const size_t end = line.find('`', 3);
    const bool is_key = line.starts_with("| `") && (line.find(" | taken |") != std::string::npos ||
                                                    line.find(" | refused |") != std::string::npos);
    if (is_key && end != std::string::npos) all.insert(line.substr(3, end - 3));
  }
  EXPECT_GT(all.size(), 50u);
  std::set<std::string> known;
  for (const auto& [key, right] : kKeys) known.insert(key);
  EXPECT_EQ(all, known);
}

// What looks like a wrong type and is none.
TEST(JobKeyTypes, WordsThatLookLikeNumbersAreTakenWhereTheyMeanThemselves) {
  const std::pair<const char*, const char*> kRight[] = {
      {"spec.parameters", "5"},
      {"spec.parameters", "[--lr, 0.1, true]"},
      {"spec.environments", "{OMP_NUM_THREADS: 8, DEBUG: true, RATE: 0.5}"},
      {"resource.gpu_type", "4090"},
      {"options.tags", "['5', \"7.5\"]"},
      {"options.depends_on", "17"},
      {"options.depends_on", "[17, prep]"},
      {"options.py_venv", "202111"},
      {"options.py_venv", "'5.5'"},
      {"services", "[8888]"},
      {"resource.image", "'5'"},
      {"options.mount_code", "2"},
      {"options.timeout", "3600"},
  };
  for (const auto& [key, value] : kRight) {
    JobSpec spec;
    std::vector<SpecError> errors;
    EXPECT_TRUE(parse_job_spec(job_file(key, value), &spec, &errors))
        << job_file(key, value) << to_status(errors).message();
  }
}

}  // namespace
}  // namespace hai
