#include "cli/arguments.h"

#include <gtest/gtest.h>

namespace hai::cli {
namespace {

TEST(Arguments, WhatStandsBeforeTheDashesIsTheProgram) {
  EXPECT_EQ(split_arguments({"python", "train.py", "-n", "7", "--", "-n", "2", "-p", "high"}),
            (Arguments{.options = {"python", "-n", "2", "-p", "high"},
                       .program = {"train.py", "-n", "7"},
                       .is_submission = true}));
}

TEST(Arguments, OnlyTheLastDashesCount) {
  EXPECT_EQ(split_arguments({"exec", "env", "--", "x", "--", "--name", "a"}),
            (Arguments{.options = {"exec", "--name", "a"},
                       .program = {"env", "--", "x"},
                       .is_submission = true}));
}

TEST(Arguments, WithoutDashesTheProgramRunsHere) {
  EXPECT_EQ(split_arguments({"bash", "a.sh", "-f"}),
            (Arguments{.options = {"bash"}, .program = {"a.sh", "-f"}, .is_submission = false}));
}

TEST(Arguments, GlobalOptionsStandBeforeTheVerb) {
  EXPECT_EQ(
      split_arguments({"--context", "python", "exec", "true", "--"}),
      (Arguments{
          .options = {"--context", "python", "exec"}, .program = {"true"}, .is_submission = true}));
}

TEST(Arguments, HelpOfALauncherIsHais) {
  EXPECT_EQ(split_arguments({"python", "--help"}), (Arguments{.options = {"python", "--help"}}));
  EXPECT_EQ(split_arguments({"python"}), (Arguments{.options = {"python"}}));
}

TEST(Arguments, PlusesRehearseAJobHere) {
  EXPECT_EQ(split_arguments({"python", "a.py", "x", "++", "-ss", "5", "-ls", "3"}),
            (Arguments{.options = {"python", "--suspend-seconds", "5", "--life-state", "3"},
                       .program = {"a.py", "x"},
                       .is_simulation = true}));
  EXPECT_EQ(
      split_arguments({"python", "a.py", "++", "--", "-n", "1"}),
      (Arguments{
          .options = {"python", "-n", "1"}, .program = {"a.py", "++"}, .is_submission = true}));
}

TEST(Arguments, OtherVerbsKeepTheirWords) {
  EXPECT_EQ(split_arguments({"run", "a.yaml", "--", "x"}),
            (Arguments{.options = {"run", "a.yaml", "--", "x"}}));
  EXPECT_EQ(split_arguments({"list", "-p", "2", "-ps", "5"}),
            (Arguments{.options = {"list", "-p", "2", "--page-size", "5"}}));
  EXPECT_EQ(split_arguments({"list", "--page_size", "5"}),
            (Arguments{.options = {"list", "--page-size", "5"}}));
  EXPECT_EQ(split_arguments({}), Arguments{});
}

}  // namespace
}  // namespace hai::cli
