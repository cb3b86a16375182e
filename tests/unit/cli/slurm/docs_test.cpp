// docs/slurm.md tells what becomes of every option; it must say what the program does.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "cli/slurm/input_variables.h"
#include "cli/slurm/option_table.h"
#include "cli/slurm/other_commands.h"

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
