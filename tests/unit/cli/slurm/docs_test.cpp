// docs/slurm.md tells what becomes of every option; it must say what the program does.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/slurm/input_variables.h"
#include "cli/slurm/option_table.h"
#include "cli/slurm/other_commands.h"
#include "cli/slurm/parse_options.h"
#include "cli/slurm/srun_inside.h"

namespace hai::cli::slurm {
namespace {

std::string table_of(std::span<const Option> options) {
  std::string text = "| option | | |\n|---|---|---|\n";
  for (const Option& option : options) {
    const std::string letter = option.letter == 0 ? "" : fmt::format("-{}, ", option.letter);
    text += fmt::format("| `{}--{}` | {} | {} |\n", letter, option.name,
                        to_string(option.treatment), option.text);
  }
  return text;
}

TEST(SlurmDocs, HaveEveryOption) {
  std::ifstream file(HAI_SLURM_DOCS);
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty()) << HAI_SLURM_DOCS;
  const auto expect_table = [&](std::string_view title, std::span<const Option> options) {
    const std::string wanted = fmt::format("### {}\n\n{}", title, table_of(options));
    EXPECT_NE(text.str().find(wanted), std::string::npos) << "docs/slurm.md lacks:\n" << wanted;
  };
  expect_table("sbatch, srun and salloc", common_job_options());
  for (const Command command : kCommands) {
    expect_table(fmt::format("{} only", to_string(command)), own_options(command));
  }
}

// What is accepted has an effect that somebody wrote, is so anyway, or is told of: a fourth kind,
// that changes nothing in silence, there is not.
TEST(SlurmDocs, NothingIsAcceptedAndIgnored) {
  std::string code;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HAI_SLURM_CODE)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".cpp" || name.ends_with("_options.cpp") ||
        name == "input_variables.cpp") {
      continue;
    }
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    code += text.str();
  }
  ASSERT_FALSE(code.empty());
  const auto judge = [&](Command command, const Option& option) {
    const std::string name = fmt::format("{} --{}", to_string(command), option.name);
    const bool takes_value = option.argument != Argument::none;
    const Result<ParsedWords> parsed =
        parse_words(command, {fmt::format("--{}{}", option.name, takes_value ? "=7" : "")});
    EXPECT_EQ(parsed.is_ok(), option.treatment != Treatment::refused) << name;
    if (!parsed.is_ok()) {
      EXPECT_NE(parsed.status().message().find(option.text), std::string::npos) << name;
      return;
    }
    const bool is_told = !parsed.value().warnings().empty();
    EXPECT_EQ(is_told, option.treatment == Treatment::warned) << name;
    if (option.treatment != Treatment::mapped) return;
    EXPECT_NE(code.find(fmt::format("\"{}\"", option.name)), std::string::npos)
        << name << " is read nowhere in cli/slurm";
  };
  for (const Command command : kCommands) {
    for (const Option& option : own_options(command)) judge(command, option);
    if (!submits_jobs(command)) continue;
    for (const Option& option : common_job_options()) judge(command, option);
  }
}

// Of srun in a script: what a step does not heed is told, or refused.
TEST(SlurmDocs, AStepIgnoresNothingInSilence) {
  std::string code;
  for (const char* name : {"srun_inside.cpp", "step/step.cpp", "mpi_option.cpp",
                           "map_container.cpp", "console.cpp", "srun.cpp"}) {
    std::stringstream text;
    text << std::ifstream(std::string(HAI_SLURM_CODE) + "/" + name).rdbuf();
    std::string without_list = text.str();
    if (const size_t list = without_list.find("kOfSteps = "); list != std::string::npos)
      without_list.erase(list, without_list.find(';', list) - list);
    code += without_list;
  }
  size_t told = 0;
  const auto judge = [&](const Option& option) {
    if (option.treatment != Treatment::mapped) return;
    const bool takes_value = option.argument != Argument::none;
    const auto words = parse_words(
        Command::srun, {fmt::format("--{}{}", option.name, takes_value ? "=7" : ""), "true"});
    ASSERT_TRUE(words.is_ok()) << option.name;
    const Result<std::vector<std::string>> lines = step_warnings(words.value());
    if (!lines.is_ok() || !lines.value().empty()) {
      ++told;
      return;
    }
    EXPECT_NE(code.find(fmt::format("\"{}\"", option.name)), std::string::npos)
        << "--" << option.name << " of a step is neither heeded nor told";
  };
  for (const Option& option : common_job_options()) judge(option);
  for (const Option& option : own_options(Command::srun)) judge(option);
  EXPECT_GT(told, 12u);
  const auto lines_of = [](const std::vector<std::string>& words) {
    return step_warnings(parse_words(Command::srun, words).value());
  };
  EXPECT_EQ(lines_of({"-t5", "true"}).value(),
            std::vector<std::string>{"--time has no effect in a job: a step may last as long as "
                                     "its job: use timeout SECONDS PROGRAM"});
  EXPECT_EQ(lines_of({"--mem=1G", "--mem=2G", "true"}).value().size(), 1u);
  EXPECT_TRUE(lines_of({"--mem=0", "-n2", "true"}).value().empty());
  EXPECT_FALSE(lines_of({"-x", "node-1", "true"}).is_ok());
}

std::string line_of_variables(Command command) {
  std::string text;
  for (const InputVariable& variable : input_variables(command)) {
    const std::string what = variable.option.empty() ? fmt::format("warned: {}", variable.warning)
                                                     : fmt::format("`--{}`", variable.option);
    text += fmt::format("{}`{}`{} ({})", text.empty() ? "" : ", ", variable.name,
                        variable.in_job ? "" : "*", what);
  }
  return fmt::format("- `{}`: {}\n", to_string(command), text);
}

std::string text_of_docs() {
  std::ifstream file(HAI_SLURM_DOCS);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(SlurmDocs, HaveEveryVariable) {
  const std::string text = text_of_docs();
  for (const Command command : kCommands) {
    const std::string wanted = line_of_variables(command);
    EXPECT_NE(text.find(wanted), std::string::npos) << "docs/slurm.md lacks:\n" << wanted;
  }
}

TEST(SlurmDocs, HaveEveryOtherCommand) {
  std::string wanted = "### Other commands\n\n| command | | |\n|---|---|---|\n";
  for (const OtherCommand& other : other_commands()) {
    wanted += fmt::format("| `{}` | {} | {} |\n", other.name,
                          other.run == nullptr ? "refused" : "mapped", other.text);
  }
  EXPECT_NE(text_of_docs().find(wanted), std::string::npos) << "docs/slurm.md lacks:\n" << wanted;
}

TEST(SlurmLinks, AreMadeForEveryCommand) {
  std::ifstream file(HAI_SLURM_LINKS);
  std::set<std::string> links;
  for (std::string line; std::getline(file, line);) links.insert(line);
  std::set<std::string> names;
  for (const Command command : kCommands) names.emplace(to_string(command));
  for (const OtherCommand& other : other_commands()) names.emplace(other.name);
  EXPECT_EQ(links, names);
}

}  // namespace
}  // namespace hai::cli::slurm
