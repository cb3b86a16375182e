// The tables of docs/operations/health.md are the code's own, and no check says a name that they do
// not have.

#include <cstdlib>
#include <set>
#include <sstream>

#include "agent/health/catalogue.h"
#include "agent/health/gpu_check.h"
#include "agent/health/kernel_table.h"
#include "agent/health/log_store_check.h"
#include "agent/health/node_checks.h"
#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

std::string document() {
  std::ifstream file(HAI_HEALTH_DOCUMENT);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The document has this table; with HAI_WRITE=1 it is written there, over the one with its head.
void expect_table(const std::string& table) {
  std::string text = document();
  if (text.find(table) == std::string::npos && std::getenv("HAI_WRITE") != nullptr) {
    const size_t begin = text.find(table.substr(0, table.find('\n')));
    ASSERT_NE(begin, std::string::npos) << "no table begins like this one";
    text.replace(begin, text.find("\n\n", begin) + 1 - begin, table);
    std::ofstream(HAI_HEALTH_DOCUMENT) << text;
  }
  EXPECT_NE(text.find(table), std::string::npos)
      << "docs/operations/health.md: HAI_WRITE=1 agent_health_test --gtest_filter=HealthDocument.*";
}

// With the one that an agent with a log store adds.
std::vector<std::unique_ptr<Check>> all_checks(const NodeChecksOptions& options) {
  auto checks = make_node_checks(options);
  checks.value().push_back(std::make_unique<LogStoreCheck>([] { return ok(); }));
  return std::move(checks).value();
}

TEST(HealthDocument, holds_the_table_of_checks) { expect_table(format_check_infos()); }

TEST(HealthDocument, holds_the_table_of_limits) { expect_table(format_limit_infos()); }

TEST(HealthDocument, tells_how_often_each_check_looks) {
  const auto checks = all_checks({});
  for (const auto& check : checks) {
    const std::string row =
        fmt::format("| {} | {} | {} |\n", check->name(), format_duration(check->period()),
                    format_duration(check->deadline()));
    EXPECT_TRUE(document().find(row) != std::string::npos) << row;
  }
}

TEST(HealthDocument, shows_a_config_that_is_one) {
  static constexpr std::string_view kBegin = "```yaml\n";
  const std::string text = document();
  const size_t begin = text.find(kBegin) + kBegin.size();
  YamlReader reader(text.substr(begin, text.find("```", begin) - begin));
  HealthConfig config;
  read_health_config(reader, &config);
  const Status status = to_status(reader.finish(), "health.md");
  EXPECT_TRUE(status.is_ok()) << status.message();
  EXPECT_EQ(config.gpus, 8);
  EXPECT_EQ(config.gpu_nvlinks, 18);
}

TEST(HealthDocument, has_every_name_that_a_check_says_and_no_other) {
  TempFolder folder;
  folder.write("gpus", "count 2\n");
  ::setenv("HAI_STUB_NVML", folder.path("gpus").c_str(), 1);
  NodeChecksOptions options;
  options.config.sys_root = kHealthData + "/node/sys";
  options.config.proc_root = kHealthData + "/node/proc";
  options.config.kmsg = kHealthData + "/kmsg";
  options.config.nvml_library = HAI_STUB_NVML_LIBRARY;
  const auto checks = all_checks(options);
  // The monitor says these: of any that hangs, and of what it keeps.
  std::set<std::pair<std::string, std::string>> said = {{"check_stuck", "any"},
                                                        {"health_record", "any"}};
  for (const auto& check : checks) {
    for (const CheckResult& result : check->run(input_at(0s)))
      said.emplace(result.name, check->name());
  }
  std::set<std::pair<std::string, std::string>> known;
  for (const CheckInfo& info : check_infos()) known.emplace(info.name, info.check);
  EXPECT_EQ(said, known);
}

}  // namespace
}  // namespace hai
