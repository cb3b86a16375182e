#pragma once
// The logs of all ranks of a job as one, in the order of their times, each line with its rank in
// front; and the lines of all logs that hold a text.

#include <cstdint>
#include <optional>
#include <string>

#include "common/status.h"
#include "common/time.h"

namespace hai::cli {

class Client;

struct RanksOptions {
  std::string job;
  int attempt = 0;  // 0 = the latest
  std::optional<UnixTime> since = {};
  bool follow = false;  // until every rank of the attempt has ended
};

// Lines of ranks that run on other machines are only as much in order as their clocks are.
Status print_log_of_ranks(Client& client, const RanksOptions& options);

struct GrepOptions {
  std::string job;
  std::string text;
  bool match_case = true;
  std::optional<int> rank = {};     // none = all
  std::optional<int> attempt = {};  // none = all; 0 = the latest
  std::optional<UnixTime> since = {};
};

// How many lines were found. Logs that could not be read are named on standard error.
Result<int64_t> print_found_lines(Client& client, const GrepOptions& options);

}  // namespace hai::cli
