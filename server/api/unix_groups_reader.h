#pragma once
// Asks the machine's name service in which groups people are, beside the loop.

#include <string>
#include <vector>

#include "common/loop.h"
#include "common/uid_min.h"
#include "server/api/question_worker.h"
#include "server/api/source.h"

namespace hai {

class UnixGroupsReader {
 public:
  // `named`: groups that exist as long as the directory answers (directory/unix_account.h).
  UnixGroupsReader(Loop& loop, std::vector<std::string> named);

  // Answers on the loop's thread: names of groups, or why they are not known (unix_groups_of).
  void read(const std::string& user, Done<std::vector<std::string>> done);

 private:
  Loop& loop_;
  const std::vector<std::string> named_;
  const uid_t uid_min_ = uid_min_of();
  QuestionWorker worker_;  // last: it uses all above
};

}  // namespace hai
