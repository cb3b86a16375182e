#include "cli/commands/user_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai::cli {
namespace {

using ::testing::HasSubstr;

Result<std::vector<UserRow>> parse(std::string_view text) {
  return parse_user_table(text, "p.csv", "root",
                          [](const std::string& name) { return name == "ann"; });
}

TEST(UserTable, ReadsPeople) {
  const std::string text =
      "name,groups,role,unix_account\nann,vision;nlp,operator,ann\nbob,\"a, b\",,\ncy,,,\n";
  const Result<std::vector<UserRow>> rows = parse(text);
  ASSERT_TRUE(rows.is_ok()) << rows.status().message();
  using Groups = std::vector<std::string>;
  EXPECT_EQ(rows.value(), (std::vector<UserRow>{{2, "ann", "operator", Groups{"vision", "nlp"}},
                                                {3, "bob", "", Groups{"a", "b"}},
                                                {4, "cy", "", Groups{}}}));
}

TEST(UserTable, LeavesGroupsAloneThatItDoesNotName) {
  EXPECT_EQ(parse("name,role\nann,user\n").value().front().groups, std::nullopt);
}

TEST(UserTable, SaysTheLineOfEachMistake) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"name\n", "p.csv: has no line but the first"},
      {"name\na b\n", "p.csv:2: name: must be 1..128"},
      {"name,groups\nann,x\nbob,y/z\n", "p.csv:3: groups: must be"},
      {"name,role\nann,boss\n", "p.csv:2: role: must be user, operator or admin, is 'boss'"},
      {"name\nann\nbob\nann\n", "p.csv:4: ann is on line 2 already"},
      {"name,unix_account\nbob,bob\n", "p.csv:2: unix_account: this machine has no account bob"},
      {"name,unix_account\nbob,ann\n", "run as the account of that name, not as 'ann'"},
      {"name,role\nroot,user\n", "p.csv:2: role: root is you, and cannot take"},
      {"name,group\nann,x\n", "p.csv:1: no column 'group' is known, meant is groups"}};
  for (const auto& [text, sentence] : mistakes) {
    const Result<std::vector<UserRow>> rows = parse(text);
    EXPECT_EQ(rows.status().code(), Code::invalid_argument) << text;
    EXPECT_THAT(rows.status().message(), HasSubstr(sentence));
  }
}

}  // namespace
}  // namespace hai::cli
