#pragma once
// The fields of sacct -o: by name, whatever the case, with widths.

#include <string>
#include <string_view>
#include <vector>

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

std::string account_value(const v1::Job& job, std::string_view title, UnixTime now);

struct AccountStyle {
  bool header = true;
  std::string delimiter;  // "" = columns
  bool ends_with_delimiter = false;
};
std::string format_accounts(const std::vector<v1::Job>& jobs,
                            const std::vector<AccountField>& fields, const AccountStyle& style,
                            UnixTime now);

}  // namespace hai::cli::slurm
