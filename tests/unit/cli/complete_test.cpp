#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/complete/candidates.h"
#include "cli/complete/scripts.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

using Words = std::vector<std::string>;

class Complete : public testing::Test {
 protected:
  Complete() {
    app_.add_option("--context", session_.context, "cluster");
    app_.fallthrough();
    app_.require_subcommand(1);
    for (const auto add :
         {add_list, add_logs, add_python, add_exec, add_quota, add_run, add_job_verbs,
          add_node_verbs, add_completion, add_dev, add_move, add_status}) {
      add(app_, session_);
    }
  }

  // No server is asked: what it would be asked for is told instead.
  Words texts(const Words& words) {
    Words found;
    const Cursor cursor = find_cursor(app_, words);
    for (const Candidate& each : candidates(cursor, [] { return nullptr; })) {
      found.push_back(each.text);
    }
    return found;
  }

  std::string value_of(const Words& words) {
    const Cursor cursor = find_cursor(app_, words);
    return cursor.kind == Cursor::Kind::value
               ? cursor.option->get_name(!cursor.option->nonpositional())
               : "";
  }

  Session session_;
  CLI::App app_{"a scheduler", "hai"};
};

TEST_F(Complete, VerbsAndVerbsOfVerbs) {
  EXPECT_EQ(texts({"lo"}), Words{"logs"});
  EXPECT_EQ(texts({"quota", ""}), (Words{"list", "set", "remove"}));
  EXPECT_EQ(texts({"quota", "s"}), Words{"set"});
  EXPECT_EQ(texts({"nothing-like-it"}), Words{});
  EXPECT_EQ(texts({"--context", "x", "quo"}), Words{"quota"});
  EXPECT_EQ(find_cursor(app_, {"--context", "x", "quo"}).context, "x");
  EXPECT_EQ(find_cursor(app_, {"list", "--context=y", "-"}).context, "y");
}

TEST_F(Complete, OptionsOfTheVerbAndThoseOfHai) {
  EXPECT_EQ(texts({"list", "--pa"}), (Words{"--page", "--page-size"}));
  EXPECT_EQ(texts({"list", "--con"}), Words{"--context"});
  EXPECT_EQ(texts({"move", "j", "--fi"}), Words{"--first"});  // of an option group
}

TEST_F(Complete, ValuesOfOptions) {
  EXPECT_EQ(texts({"list", "-o", "j"}), (Words{"json", "jsonl"}));
  EXPECT_EQ(texts({"list", "--output=js"}), (Words{"--output=json", "--output=jsonl"}));
  EXPECT_EQ(texts({"list", "-s", "running,su"}), (Words{"running,suspended", "running,succeeded"}));
  EXPECT_EQ(texts({"run", "f", "-p", "h"}), Words{"high"});
  EXPECT_EQ(texts({"completion", ""}), (Words{"bash", "zsh", "fish"}));
  EXPECT_EQ(texts({"run", ""}), Words{":files"});
  EXPECT_EQ(texts({"dev", "up", "--data", ""}), Words{":directories"});
  EXPECT_EQ(value_of({"list", "-g", ""}), "--group");
}

TEST_F(Complete, OperandsByTheirPlace) {
  EXPECT_EQ(value_of({"logs", "tr"}), "JOB");
  EXPECT_EQ(value_of({"logs", "-r", "1", "tr"}), "JOB");
  EXPECT_EQ(value_of({"logs", "train", ""}), "");
  EXPECT_EQ(value_of({"stop", "a", "b", "c"}), "JOB");
  EXPECT_EQ(value_of({"drain", "no"}), "NODE");
  EXPECT_EQ(value_of({"quota", "set", "ann", ""}), "NODES");
  EXPECT_EQ(value_of({"stop", "--", "tr"}), "JOB");
}

TEST_F(Complete, WordsOfAProgramAreItsOwnUntilTheDashes) {
  EXPECT_EQ(texts({"python", "tr"}), Words{":files"});
  EXPECT_EQ(texts({"exec", "ba"}), (Words{":files", ":commands"}));
  EXPECT_EQ(texts({"python", "train.py", "--no"}), Words{":files"});
  EXPECT_EQ(texts({"python", "train.py", "-"}), (Words{":files", "--"}));
  EXPECT_EQ(texts({"python", "train.py", "--"}), (Words{":files", "--"}));
  EXPECT_EQ(texts({"python", "train.py", "--", "--node"}), (Words{"--nodes", "--nodelist"}));
  EXPECT_EQ(texts({"python", "a.py", "--", "-p", "very_"}), Words{"very_high"});
  EXPECT_EQ(texts({"python", "a.py", "++", "--node"}), (Words{"--nodes", "--nodelist"}));
}

TEST(Candidates, AreLinesAndNothingThatMovesTheCursor) {
  EXPECT_EQ(format_candidates({{"a\x1b[2J", "of\nann"}, {"b"}}), "a?[2J\tof ann\nb\n");
}

TEST(Scripts, AreKnownForThreeShells) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_NE(completion_script(shell).find("__complete"), std::string_view::npos) << shell;
  }
  EXPECT_EQ(completion_script("tcsh"), "");
}

}  // namespace
}  // namespace hai::cli
