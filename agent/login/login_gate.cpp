#include "agent/login/login_gate.h"

#include "agent/os/cgroup.h"

namespace hai {

namespace {

// Directories of users may know one account by several names.
bool runs_as(const LiveRank& rank, const LoginUser& user) {
  if (rank.user == user.name) return true;
  const Result<UserIdentity> runs = find_user(rank.user, {.uid_min = 0});
  return runs.is_ok() && runs.value().switch_user && runs.value().uid == user.identity.uid;
}

Status no_job(const std::string& name, const std::string& node) {
  return permission_denied(
      "no login to {}: no job of {} runs there; `hai list` shows your jobs, `hai status JOB` their "
      "nodes",
      node, name);
}

}  // namespace

Result<std::vector<LiveRank>> ranks_to_join(const LoginUser& user, const std::string& node,
                                            std::vector<LiveRank> live) {
  std::erase_if(live, [&](const LiveRank& rank) { return !runs_as(rank, user); });
  if (live.empty()) return no_job(user.name, node);
  std::erase_if(live, [](const LiveRank& rank) { return rank.cgroups.empty(); });
  if (live.empty()) {
    return permission_denied(
        "no login to {}: your job runs there, but without control groups to keep the login in; "
        "its administrator can give it some (cgroups in agent.yaml)",
        node);
  }
  return live;
}

Result<LiveRank> join_rank(pid_t process, const std::string& node,
                           const std::vector<LiveRank>& ranks) {
  for (const LiveRank& rank : ranks) {
    const Status moved = move_into_cgroups(process, rank.cgroups);
    if (!moved.is_ok() && moved.code() != Code::not_found) return moved;
    // A rank that ends now kills who is in its groups already; but if its shim died before, and
    // the agent looked before the move, nobody would. And to one that has shut its door meanwhile,
    // at most those come who had looked before.
    if (moved.is_ok() && is_live(rank.directory)) return rank;
  }
  return permission_denied("no login to {}: your job there has just ended", node);
}

}  // namespace hai
