#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/help/help_text.h"
#include "cli/help/parse_error.h"
#include "cli/help/verb_doc.h"
#include "cli/session.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

class Help : public testing::Test {
 protected:
  Help() {
    app_.set_help_flag("-h,--help", "show this help");
    app_.require_subcommand(1);
    app_.fallthrough();
    for (const auto add : {add_run, add_list, add_move, add_quota, add_incidents, add_job_verbs,
                           add_node_verbs, add_dev, add_context, add_token, add_user, add_whatif}) {
      add(app_, session_);
    }
  }

  std::string help_of(const std::string& verb, int width = 80) {
    return help_text(doc_of(*verb_named(app_, verb), session_.help), width);
  }

  std::string error_of(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());
    try {
      app_.parse(words);
    } catch (const CLI::ParseError& error) {
      return explain_parse_error(app_, error);
    }
    return "no error";
  }

  Session session_;
  CLI::App app_{"a scheduler", "hai"};
};

TEST_F(Help, NamesValuesAsPeopleDo) {
  const std::string run = help_of("run");
  EXPECT_NE(run.find("\n  -n, --nodes N "), std::string::npos) << run;
  EXPECT_NE(run.find("\n      --launch per_node|per_gpu\n"), std::string::npos) << run;
  EXPECT_NE(run.find("\nUsage: hai run [OPTIONS] FILE\n"), std::string::npos) << run;
  for (const char* ugly : {"INT", "TEXT", "[1 - ", "REQUIRED", "{"}) {
    EXPECT_EQ(run.find(ugly), std::string::npos) << ugly << "\n" << run;
  }
  EXPECT_NE(help_of("drain").find("Usage: hai drain [OPTIONS] NODE..."), std::string::npos);
  EXPECT_NE(help_of("move").find("(--before JOB | --first | --last) JOB"), std::string::npos);
}

TEST_F(Help, FitsTheTerminalAndHasExamples) {
  for (const CLI::App* verb : verbs_of(app_)) {
    for (const int width : {60, 80}) {
      const std::string text = help_of(verb->get_name(), width);
      EXPECT_NE(text.find("\nExamples:\n  hai "), std::string::npos) << text;
      for (const std::string& line : CLI::detail::split(text, '\n')) {
        // A label of words that may not be broken stands alone on its line.
        const bool is_label = line.starts_with("  -") || line.starts_with("      --");
        if (width < 80 && (is_label || line.starts_with("  hai "))) continue;
        EXPECT_LE(display_width(line), static_cast<size_t>(width)) << line;
      }
    }
  }
}

TEST_F(Help, VerbsBelowHaveTheirExamplesToo) {
  for (const CLI::App* verb : verbs_of(app_)) {
    for (const CLI::App* inner : verbs_of(*verb)) {
      const VerbDoc doc = doc_of(*inner, session_.help);
      ASSERT_FALSE(doc.help.examples.empty()) << doc.path;
      for (const Example& example : doc.help.examples) {
        EXPECT_TRUE(example.command.starts_with(doc.path)) << example.command;
      }
    }
  }
}

TEST(Wrap, BreaksBetweenWordsAndNeverInThem) {
  EXPECT_EQ(wrap("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(wrap("incomprehensible", 4, 0), "incomprehensible");
  EXPECT_EQ(wrap("", 10, 0), "");
}

TEST_F(Help, ErrorsNameTheWordAndWhatWasMeant) {
  EXPECT_EQ(error_of({"lsit"}), "unknown verb 'lsit': did you mean list?");
  EXPECT_EQ(error_of({"quota", "sett"}), "hai quota has no verb 'sett': did you mean set?");
  EXPECT_EQ(error_of({"quota"}), "hai quota needs a verb: list, set, remove");
  EXPECT_EQ(error_of({"list", "--grup", "x"}),
            "hai list has no option '--grup': did you mean --group?");
  EXPECT_EQ(error_of({"list", "-y"}), "hai list has no option '-y'; see hai list --help");
  EXPECT_EQ(error_of({"list", "x"}), "hai list has no place for 'x'; see hai list --help");
  EXPECT_EQ(error_of({"incidents", "shw"}), "hai incidents has no verb 'shw': did you mean show?");
  // By its meaning, not by its spelling: "uncordon" is one letter pair from its opposite, and who
  // wants to see a job must not be told to stop it.
  EXPECT_EQ(error_of({"uncordon", "n"}), "unknown verb 'uncordon': did you mean undrain?");
  EXPECT_EQ(error_of({"show", "1"}), "unknown verb 'show': did you mean status?");
  EXPECT_EQ(error_of({"rm", "1"}), "unknown verb 'rm': did you mean stop?");
  EXPECT_EQ(error_of({"scancel", "1"}), "unknown verb 'scancel': did you mean stop?");
  for (const std::string word :
       {"cancel", "history", "info", "sinfo", "sbatch", "srun", "tail", "pause", "unpause",
        "restart", "retry", "update", "taint", "evict", "unfence"}) {
    const std::string said = error_of({word});
    const size_t begin = said.find("did you mean ");
    ASSERT_NE(begin, std::string::npos) << said;
    const std::string verb = said.substr(begin + 13, said.size() - begin - 14);
    EXPECT_THAT(error_of({verb, "--no-such"}), testing::Not(testing::HasSubstr("unknown verb")))
        << "there must be such a verb";
  }
  EXPECT_EQ(error_of({"quota", "show"}), "hai quota has no verb 'show'; see hai quota --help");
  // What others call so has another name here, which is told instead of a guess.
  EXPECT_EQ(
      error_of({"backup"}),
      "unknown verb 'backup': `hai-backup create` on a server's machine makes one (hai-backup "
      "--help)");
  EXPECT_THAT(error_of({"restore", "--to", "x"}),
              testing::StartsWith("unknown verb 'restore': `hai-backup restore FILE`"));
  EXPECT_EQ(error_of({"run"}), "hai run needs FILE; see hai run --help");
  EXPECT_EQ(error_of({"run", "f", "-n", "0"}), "--nodes: '0' is no number from 1 to 100000");
  EXPECT_EQ(error_of({"run", "f", "-n"}), "--nodes needs a value: --nodes N");
  EXPECT_EQ(error_of({"run", "f", "--launch", "per_gpus"}),
            "--launch: 'per_gpus' is none of per_node, per_gpu: did you mean per_gpu?");
  EXPECT_EQ(error_of({"incidents", "show", "x"}), "INCIDENT: 'x' is no number");
  EXPECT_EQ(error_of({"move", "j"}),
            "hai move needs exactly one of --before, --first, --last; see hai move --help");
}

TEST_F(Help, AStateThatAVerbCannotMeanIsToldInWords) {
  EXPECT_EQ(error_of({"stop", "--state", "failed"}),
            "--state: failed jobs have ended, this is for queued, running or suspended ones; hai "
            "rerun --state failed runs such jobs again; see hai stop --help");
  EXPECT_EQ(error_of({"stop", "--state", "runing"}),
            "--state: 'runing' is none of queued, running, suspended: did you mean running?");
}

// docs/hai.md has a row for each.
TEST_F(Help, VerbsOfHaiThatAreNotHereSayWhatToUse) {
  const std::string artifact =
      "there is no hai artifact here: results are files where the nodes see them; a tag (hai edit "
      "JOB --tag NAME) finds the job that made them (hai list --tag NAME)";
  EXPECT_EQ(error_of({"artifact"}), artifact);
  EXPECT_EQ(error_of({"artifact", "list"}), artifact) << "though list is a verb";
  EXPECT_EQ(error_of({"artifact", "set", "x", "-t", "model"}), artifact);
  EXPECT_EQ(error_of({"prof", "17", "--time", "60"}),
            "there is no hai prof here: start the profiler from the entrypoint");
  EXPECT_EQ(
      error_of({"monitor"}),
      "there is no hai monitor here: use the dashboard, hai top, or hai status without a job");
}

}  // namespace
}  // namespace hai::cli
