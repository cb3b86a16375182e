#pragma once
// The fields of sacct -o: by name, whatever the case, with widths.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/allotment.h"
#include "cli/slurm/step/step_record.h"
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
  int tasks = 0;                   // of a step that srun started
};
std::string account_value(const AccountRow& row, std::string_view title, UnixTime now);
// The job, and after it, if it has run and came from sbatch or srun, its script and the steps that
// are known.
std::vector<AccountRow> account_rows(const v1::Job& job, std::optional<Allotment> given,
                                     bool with_steps, const std::vector<StepRecord>& steps = {});

// "cpu=16,mem=4096M,node=2,gres/gpu=8": what is known of it.
std::string tres_text(int nodes, const Allotment& tres);

struct AccountStyle {
  bool header = true;
  std::string delimiter;  // "" = columns
  bool ends_with_delimiter = false;
};
std::string format_accounts(const std::vector<AccountRow>& rows,
                            const std::vector<AccountField>& fields, const AccountStyle& style,
                            UnixTime now);

}  // namespace hai::cli::slurm
