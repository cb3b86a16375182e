#pragma once
// Which jobs a verb for many means: ids and names as they are; ranges of ids (17-20), patterns of
// names (sweep-*), tasks of arrays (17_[1-5]), and filters. Patterns and filters mean the caller's
// own jobs, or another user's where one is named: those that are unfinished, or those that ended.
// States of unfinished jobs choose tasks of arrays, never a whole array.

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
  enum class Among { unfinished, ended };

  Among among = Among::unfinished;
  std::vector<std::string> words;
  std::vector<std::string> states;  // any of these
  std::vector<std::string> tags;    // all of these
  std::string group;
  int64_t array = 0;  // tasks of this one; 0 = any jobs, and no tasks
  std::string user;   // "" = the caller
  std::string
      array_word;  // the array's id or name as it was said; find_selected makes `array` of it

  // Whether it chooses jobs without words.
  bool has_filters() const {
    return !states.empty() || !tags.empty() || !group.empty() || array != 0 || !array_word.empty();
  }
};

// The first and last id of "17-20".
std::optional<std::pair<int64_t, int64_t>> id_range(const std::string& word);
bool is_pattern(const std::string& word);

// Those of `own` (the user's jobs, any order) that the selection means, and words that are neither
// range nor pattern as they are; oldest first. Of those that ended only the latest of a name, so
// that what was run again is not run once more; but for ids and tasks. The error names the word
// that means no job.
Result<std::vector<std::string>> select_jobs(const JobSelection& selection,
                                             const std::vector<v1::Job>& own);

// The id of an array that is named by its id or its name; an error for a job that is none.
Result<int64_t> find_array(Client& client, const std::string& word);

// Asks the server for the caller's jobs only if the selection needs them.
Result<std::vector<std::string>> find_selected(Client& client, const JobSelection& selection);

}  // namespace hai::cli
