#pragma once
// "%.18i %.9P": the -o formats of squeue and sinfo. %[.][WIDTH]LETTER, where "." sets the text to
// the right; what is longer than WIDTH is cut.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai::cli::slurm {

struct FormatField {
  std::string before;  // plain text in front of it
  char letter = 0;     // 0: only the text
  int width = 0;       // 0 = as long as it is
  bool right = false;
  bool fits_widest = false;  // of the default formats: as wide as the longest value
};

struct KnownLetter {
  char letter;
  std::string_view title;
};

Result<std::vector<FormatField>> parse_format(std::string_view text,
                                              const std::vector<KnownLetter>& known);

// One line per row, under the titles if `header`.
std::string format_lines(std::vector<FormatField> fields, const std::vector<KnownLetter>& known,
                         const std::vector<std::function<std::string(char)>>& rows, bool header);

}  // namespace hai::cli::slurm
