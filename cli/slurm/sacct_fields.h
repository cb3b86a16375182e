#pragma once
// The fields of sacct -o: by name, whatever the case, with widths.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/allotment.h"
#include "common/status.h"
#include "common/time.h"
#include "hai/v1/types.pb.h"

namespace hai::cli::slurm {

struct AccountField {
  std::string title;
  int width = 0;
  bool left = false;  // NAME%-20
};

// "JobID,State%20,nodelist"
Result<std::vector<AccountField>> parse_account_fields(std::string_view text);
std::string known_account_fields();  // in lines

// A line of sacct: a job, or the step that its script or its srun is.
struct AccountRow {
  v1::Job job;
  std::string step;                // "batch" or "0"; "" = the job itself
  std::string step_name;           // of its program
  std::optional<Allotment> given;  // if its attempts were asked for
};
std::string account_value(const AccountRow& row, std::string_view title, UnixTime now);
// The job, and after it its step if it has run and came from sbatch or srun.
std::vector<AccountRow> account_rows(const v1::Job& job, std::optional<Allotment> given,
                                     bool with_steps);

struct AccountStyle {
  bool header = true;
  std::string delimiter;  // "" = columns
  bool ends_with_delimiter = false;
};
std::string format_accounts(const std::vector<AccountRow>& rows,
                            const std::vector<AccountField>& fields, const AccountStyle& style,
                            UnixTime now);

}  // namespace hai::cli::slurm
