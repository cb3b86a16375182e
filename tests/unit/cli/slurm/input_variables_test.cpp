#include "cli/slurm/input_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "cli/slurm/map_job.h"
#include "cli/slurm/view_values.h"

namespace hai::cli::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Result<EnvironmentOptions> options_of(Command command, std::map<std::string, std::string> variables,
                                      bool in_job = false) {
  return environment_options(
      command,
      [&](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      },
      in_job);
}

std::string error_text(Command command, std::map<std::string, std::string> variables) {
  return std::string(options_of(command, std::move(variables)).status().message());
}

TEST(InputVariables, NameOptionsThatAreThere) {
  for (const Command command : kCommands) {
    for (const InputVariable& variable : input_variables(command)) {
      if (variable.option.empty()) {
        EXPECT_FALSE(variable.warning.empty()) << variable.name;
        continue;
      }
      const Option* option = find_option(command, variable.option);
      ASSERT_NE(option, nullptr) << variable.name;
      EXPECT_EQ(option->name, variable.option) << variable.name;
    }
  }
}

TEST(InputVariables, AreOptionsWithTheirValues) {
  const auto found = options_of(Command::sbatch, {{"SBATCH_PARTITION", "training"},
                                                  {"SBATCH_TIMELIMIT", "1:00:00"},
                                                  {"SBATCH_EXCLUSIVE", ""},
                                                  {"SBATCH_WAIT", "yes"},
                                                  {"SBATCH_OVERCOMMIT", "0"},
                                                  {"SBATCH_QOS", ""},
                                                  {"SBATCH_UNKNOWN", "x"}});
  const ParsedWords& words = found.value().words;
  EXPECT_EQ(words.value_of("partition"), "training");
  EXPECT_EQ(words.value_of("time"), "1:00:00");
  EXPECT_TRUE(words.has("exclusive"));
  EXPECT_TRUE(words.has("wait"));
  EXPECT_FALSE(words.has("overcommit"));
  EXPECT_FALSE(words.has("qos"));  // nothing is said
  EXPECT_EQ(words.options.size(), 4u);
}

TEST(InputVariables, ErrorsNameTheVariable) {
  EXPECT_EQ(error_text(Command::sbatch, {{"SBATCH_RESERVATION", "x"}}),
            "SBATCH_RESERVATION: --reservation is not supported: hai has no reservations: nobody "
            "reserves machines");
  EXPECT_EQ(error_text(Command::sbatch, {{"SBATCH_WAIT", "perhaps"}}),
            "SBATCH_WAIT: 'perhaps' must be yes or no");
}

TEST(InputVariables, ThatAreNotUnderstoodKeepNobodyFromLooking) {
  const auto shown = options_of(
      Command::sinfo,
      {{"SINFO_FORMAT2", "nodehost"}, {"SINFO_ALL", "perhaps"}, {"SINFO_PARTITION", "dev"}});
  ASSERT_TRUE(shown.is_ok());
  EXPECT_EQ(shown.value().words.options.size(), 1u);
  EXPECT_EQ(shown.value().words.value_of("partition"), "dev");
  EXPECT_THAT(shown.value().warnings,
              ElementsAre("SINFO_ALL: 'perhaps' must be yes or no; it is ignored",
                          "SINFO_FORMAT2: -O/--Format is not supported: use -o with letters; it is "
                          "ignored"));
  // To cancel more than was said would be worse than nothing.
  EXPECT_EQ(error_text(Command::scancel, {{"SCANCEL_BATCH", "perhaps"}}),
            "SCANCEL_BATCH: 'perhaps' must be yes or no");
}

TEST(InputVariables, OfAJobAreNoOptionsOfItsSteps) {
  const std::map<std::string, std::string> variables = {
      {"SLURM_NTASKS", "4"}, {"SLURM_NNODES", "2"}, {"SLURM_LABELIO", "1"}};
  EXPECT_EQ(options_of(Command::srun, variables).value().words.options.size(), 3u);
  const auto inside = options_of(Command::srun, variables, true);
  EXPECT_EQ(inside.value().words.options.size(), 1u);
  EXPECT_TRUE(inside.value().words.has("label"));
}

TEST(InputVariables, WithoutAnEquivalentAreWarnedAbout) {
  EXPECT_THAT(options_of(Command::squeue, {{"SLURM_TIME_FORMAT", "relative"}}).value().warnings,
              ElementsAre(HasSubstr("SLURM_TIME_FORMAT has no effect")));
  EXPECT_TRUE(
      options_of(Command::squeue, {{"SLURM_TIME_FORMAT", "standard"}}).value().warnings.empty());
}

// As Slurm's commands, which have the same variables and other letters.
TEST(SlurmVariables, AFormatThatIsNotKnownIsLeftOutOfAView) {
  const auto dropped = [](Command command, const EnvironmentMap& variables,
                          const std::vector<std::string>& words) {
    const auto read = [&](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    ParsedWords all = environment_options(command, read).value().words;
    const ParsedWords given = parse_words(command, words).value();
    all.options.insert(all.options.end(), given.options.begin(), given.options.end());
    const std::vector<std::string> lines = drop_unknown_values(command, all);
    return std::pair(lines, all.options.size());
  };
  using Lines = std::vector<std::string>;
  const auto [lines, left] =
      dropped(Command::squeue,
              {{"SQUEUE_FORMAT", "%i %1"}, {"SQUEUE_SORT", "P"}, {"SQUEUE_STATES", "X"}}, {});
  EXPECT_THAT(lines, ElementsAre(HasSubstr("SQUEUE_FORMAT: "), HasSubstr("SQUEUE_STATES: ")));
  EXPECT_THAT(lines[0], HasSubstr("; it is ignored"));
  EXPECT_EQ(left, 1u);
  EXPECT_EQ(dropped(Command::squeue, {{"SQUEUE_FORMAT", "%i %j"}}, {"-o", "%1"}).first, Lines{})
      << "what is on the command line is refused, not left out";
  EXPECT_THAT(dropped(Command::squeue, {{"SQUEUE_FORMAT2", "nothing"}}, {}).first, SizeIs(1));
  EXPECT_THAT(dropped(Command::sinfo, {{"SINFO_FORMAT", "%1"}}, {}).first, SizeIs(1));
  EXPECT_THAT(dropped(Command::sacct, {{"SACCT_FORMAT", "JobID,Nothing"}}, {}).first, SizeIs(1));
}

}  // namespace
}  // namespace hai::cli::slurm
