#pragma once
// Which jobs a verb for many means: ids and names as they are; ranges of ids (17-20), patterns of
// names (sweep-*), and filters, which mean the caller's own unfinished jobs.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"
#include "hai/v1/types.pb.h"

namespace hai::cli {

class Client;

struct JobSelection {
  std::vector<std::string> words;
  std::vector<std::string> states;  // any of these; of unfinished jobs
  std::vector<std::string> tags;    // all of these
  std::string group;

  bool has_filters() const { return !states.empty() || !tags.empty() || !group.empty(); }
};

// The first and last id of "17-20".
std::optional<std::pair<int64_t, int64_t>> id_range(const std::string& word);
bool is_pattern(const std::string& word);

// Those of `own` (unfinished jobs, any order) that the selection means, and words that are neither
// range nor pattern as they are; oldest first. The error names the word that means no job.
Result<std::vector<std::string>> select_jobs(const JobSelection& selection,
                                             const std::vector<v1::Job>& own);

// Asks the server for the caller's jobs only if the selection needs them.
Result<std::vector<std::string>> find_selected(Client& client, const JobSelection& selection);

}  // namespace hai::cli
