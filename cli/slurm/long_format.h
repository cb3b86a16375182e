#pragma once
// "jobid:10,name:.20": the -O formats of squeue, which name fields where -o has letters; and the
// order of lines, -S.

#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/format_fields.h"
#include "common/time.h"
#include "hai/v1/types.pb.h"

namespace hai::cli::slurm {

struct FieldName {
  std::string_view name;
  char letter;  // of -o with the same value
};
const std::vector<FieldName>& job_field_names();

// NAME[:[.][WIDTH]], lists of it with commas; 20 wide unless told, as in Slurm.
Result<std::vector<FormatField>> parse_long_format(std::string_view text,
                                                   const std::vector<FieldName>& names);

// "P,t,-p": letters of -o, with - in front for the highest first.
struct SortKey {
  char letter = 0;
  bool is_descending = false;
};
Result<std::vector<SortKey>> parse_sort(std::string_view text,
                                        const std::vector<KnownLetter>& known);
// Numbers and times by their size, all else as text; equal ones stay in their order.
void sort_jobs(std::vector<v1::Job>& jobs, const std::vector<SortKey>& keys, UnixTime now);

}  // namespace hai::cli::slurm
