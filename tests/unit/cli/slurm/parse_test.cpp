#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/slurm/batch_script.h"
#include "cli/slurm/parse_options.h"

namespace hai::cli::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "nodes=4 hold=" in the order given, then the operands.
std::string parsed(Command command, const std::vector<std::string>& words) {
  const Result<ParsedWords> result = parse_words(command, words);
  if (!result.is_ok()) return "error: " + std::string(result.status().message());
  std::string text;
  for (const GivenOption& given : result.value().options) {
    text += std::string(given.option->name) + "=" + given.value + " ";
  }
  for (const std::string& operand : result.value().operands) text += "[" + operand + "]";
  return text;
}

TEST(SlurmOptions, AllSpellingsOfOneOption) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"-N4"}, {"-N", "4"}, {"--nodes=4"}, {"--nodes", "4"}, {"--node", "4"}, {"--nodes=4"}}) {
    EXPECT_EQ(parsed(Command::sbatch, words), words[0] == "--node"
                                                  ? "error: unknown option --node: "
                                                    "did you mean --nodes?"
                                                  : "nodes=4 ");
  }
  EXPECT_EQ(parsed(Command::sbatch, {"--ntasks=3"}), "ntasks=3 ");  // not --ntasks-per-node
  EXPECT_EQ(parsed(Command::sbatch, {"--parti=a"}), "partition=a ");
  EXPECT_EQ(parsed(Command::squeue, {"-hln", "a"}), "noheader= long= name=a ");
  EXPECT_EQ(parsed(Command::srun, {"-ln2", "hostname"}), "label= ntasks=2 [hostname]");
  EXPECT_EQ(parsed(Command::sbatch, {"--nice", "x.sh"}), "nice= [x.sh]");
  EXPECT_EQ(parsed(Command::sbatch, {"--nice=5"}), "nice=5 ");
}

TEST(SlurmOptions, EndAtTheScriptOrTheProgram) {
  EXPECT_EQ(parsed(Command::sbatch, {"-N2", "a.sh", "-N3", "--x"}), "nodes=2 [a.sh][-N3][--x]");
  EXPECT_EQ(parsed(Command::srun, {"python", "-m", "x"}), "[python][-m][x]");
  EXPECT_EQ(parsed(Command::srun, {"--", "-x"}), "[-x]");
  EXPECT_EQ(parsed(Command::scancel, {"5", "-v", "6"}), "verbose= [5][6]");
}

TEST(SlurmOptions, EachErrorNamesTheOptionAndWhatToDo) {
  EXPECT_EQ(parsed(Command::sbatch, {"-L", "matlab:1"}),
            "error: -L/--licenses is not supported: hai counts no licenses");
  EXPECT_THAT(parsed(Command::sbatch, {"--partitoin=x"}), HasSubstr("did you mean --partition?"));
  EXPECT_EQ(parsed(Command::sbatch, {"-N"}), "error: -N/--nodes needs a value");
  EXPECT_EQ(parsed(Command::sbatch, {"--nodes="}), "error: -N/--nodes needs a value");
  EXPECT_EQ(parsed(Command::sbatch, {"--exclusive=user", "--parsable=1"}),
            "error: --parsable takes no value, was given '1'");
  EXPECT_EQ(parsed(Command::sinfo, {"-z"}), "error: unknown option -z: see sinfo --help");
}

TEST(SlurmOptions, LastOneWinsAndWarningsAreSaidOnce) {
  const ParsedWords words =
      parse_words(Command::sbatch, {"-N2", "--mail-type=END", "-N3", "--mail-type=ALL"}).value();
  EXPECT_EQ(words.value_of("nodes"), "3");
  EXPECT_EQ(words.value_of("ntasks"), "");
  EXPECT_THAT(words.warnings(), ElementsAre(HasSubstr("--mail-type has no effect: hai sends no")));
}

// What changes the meaning of a job elsewhere is told, and only where it asks for another thing
// than what happens.
TEST(SlurmOptions, WhatHasNoEffectIsTold) {
  using Words = std::vector<std::string>;
  const std::pair<Command, Words> kTold[] = {{Command::sbatch, {"-m", "cyclic"}},
                                             {Command::sbatch, {"--tmp=100G"}},
                                             {Command::sbatch, {"--prefer=ib"}},
                                             {Command::sbatch, {"--mincpus=8"}},
                                             {Command::sbatch, {"--ntasks-per-core=1"}},
                                             {Command::sbatch, {"--ntasks-per-socket=1"}},
                                             {Command::sbatch, {"--hint=nomultithread"}},
                                             {Command::sbatch, {"--threads-per-core=1"}},
                                             {Command::sbatch, {"--gpu-bind=closest"}},
                                             {Command::srun, {"--cpu-bind=cores"}},
                                             {Command::sbatch, {"--mem-bind=local"}},
                                             {Command::sbatch, {"-B", "2:8"}},
                                             {Command::sbatch, {"--time-min=1"}},
                                             {Command::sbatch, {"--propagate=STACK"}},
                                             {Command::sbatch, {"--profile=task"}},
                                             {Command::srun, {"-W", "30"}},
                                             {Command::srun, {"--cpu-bind=verbose,cores"}},
                                             {Command::sbatch, {"--kill-on-invalid-dep=yes"}}};
  for (const auto& [command, words] : kTold) {
    EXPECT_THAT(parse_words(command, words).value().warnings(),
                ElementsAre(HasSubstr(" has no effect: ")))
        << words[0];
  }
  const std::pair<Command, Words> kSame[] = {
      {Command::sbatch, {"-m", "block"}},     {Command::sbatch, {"--kill-on-invalid-dep=no"}},
      {Command::srun, {"--cpu-bind=none"}},   {Command::srun, {"--cpu-bind=quiet,none"}},
      {Command::srun, {"--gpu-bind=none"}},   {Command::sbatch, {"--propagate=NONE"}},
      {Command::sbatch, {"--mem-bind=none"}}, {Command::sbatch, {"--profile=none"}},
      {Command::sbatch, {"--tmp=0"}},         {Command::srun, {"--wait=0"}}};
  for (const auto& [command, words] : kSame) {
    EXPECT_THAT(parse_words(command, words).value().warnings(), IsEmpty()) << words[0];
  }
}

// Names and letters are unique within a command, or the second would never be found.
TEST(SlurmOptions, TheTableIsSound) {
  for (const Command command : kCommands) {
    std::vector<Option> all(own_options(command).begin(), own_options(command).end());
    if (command == Command::sbatch || command == Command::srun) {
      all.insert(all.end(), common_job_options().begin(), common_job_options().end());
    }
    for (const Option& option : all) {
      EXPECT_EQ(find_option(command, option.name)->text, option.text) << option.name;
      EXPECT_FALSE(option.text.empty()) << option.name;
      if (option.letter != 0) {
        EXPECT_EQ(find_option(command, option.letter)->name, option.name);
      }
    }
  }
}

constexpr const char* kScript =
    "#!/bin/bash\n"
    "# a comment\n"
    "#SBATCH -N 2 --ntasks-per-node=4   # two nodes\n"
    "#SBATCH --job-name='my job'\n"
    "#SBATCHX --nodes=9\n"
    "##SBATCH --nodes=8\n"
    "\n"
    "#SBATCH\t--output=a#b.log\n"
    "echo hi\n"
    "#SBATCH --nodes=7\n";

TEST(BatchScript, ReadsLinesBeforeTheFirstCommand) {
  const Result<ParsedWords> words = read_script_options(kScript, "a.sh");
  ASSERT_TRUE(words.is_ok()) << words.status().message();
  EXPECT_EQ(words.value().options.size(), 4u);
  EXPECT_EQ(words.value().value_of("nodes"), "2");
  EXPECT_EQ(words.value().value_of("ntasks-per-node"), "4");
  EXPECT_EQ(words.value().value_of("job-name"), "my job");
  EXPECT_EQ(words.value().value_of("output"), "a#b.log");
}

TEST(BatchScript, ErrorsNameTheLine) {
  const auto error = [](const std::string& line) {
    return std::string(
        read_script_options("#!/bin/sh\n#SBATCH " + line + "\n", "a.sh").status().message());
  };
  EXPECT_THAT(error("-L a"), HasSubstr("a.sh line 2: -L/--licenses is not supported"));
  EXPECT_EQ(error("--zzzzzz=1"), "a.sh line 2: unknown option --zzzzzz: see sbatch --help");
  EXPECT_EQ(error("-N 2 more"), "a.sh line 2: 'more' is no option");
  EXPECT_THAT(error("-J 'open"), HasSubstr("a.sh line 2: "));
}

TEST(BatchScript, InterpreterAsTheKernelReadsIt) {
  EXPECT_THAT(interpreter_of("#!/bin/bash\n", "a").value(), ElementsAre("/bin/bash"));
  EXPECT_THAT(interpreter_of("#! /usr/bin/env  python3 -u \nx", "a").value(),
              ElementsAre("/usr/bin/env", "python3 -u"));
  const auto error = [](const std::string& script) {
    return std::string(interpreter_of(script, "a.sh").status().message());
  };
  EXPECT_THAT(error("echo hi\n"), HasSubstr("a.sh: this does not look like a batch script"));
  EXPECT_THAT(error(""), HasSubstr("does not look like a batch script"));
  EXPECT_THAT(error("#!/bin/sh\r\necho\r\n"), HasSubstr("lines end as in DOS"));
  EXPECT_THAT(error(std::string("#!/bin/sh\n\0", 11)), HasSubstr("line 2: a NUL byte"));
  EXPECT_THAT(error("#!/bin/sh\n" + std::string(kScriptBytesMax, 'x')), HasSubstr("at most 60000"));
}

}  // namespace
}  // namespace hai::cli::slurm
