// docs/slurm.md tells what becomes of every option; it must say what the program does.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/slurm/option_table.h"

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
  expect_table("sbatch and srun", common_job_options());
  for (const Command command : kCommands) {
    expect_table(fmt::format("{} only", to_string(command)), own_options(command));
  }
}

}  // namespace
}  // namespace hai::cli::slurm
