#pragma once
// The ranks that live on this node, from what is on disk: shims outlive the agent, so it need not
// be asked, and may be down.

#include <string>
#include <vector>

#include "agent/os/rank_directory.h"
#include "common/id.h"
#include "common/status.h"

namespace hai {

struct LiveRank {
  RankKey key;
  RankDirectory directory;
  std::string user;                  // as whom it was submitted: the name of a Unix account
  std::vector<std::string> cgroups;  // as create() of cgroup.h gave them; empty if there are none
};

// Those that is_live(); the one launched last comes first. What can't be read, or is not root's
// alone (root_owned.h), is no live rank. failed_precondition if data_dir itself is not root's
// alone.
Result<std::vector<LiveRank>> find_live_ranks(const std::string& data_dir);

// Whether its shim lives and takes logins: from its start until the programs are gone. Read anew at
// each call.
bool is_live(const RankDirectory& directory);

}  // namespace hai
