#pragma once
// What people can do, for gRPC and HTTP alike: many at once, each with its own result, and the
// shorthand the controller does not know ("*", host lists). On the loop's thread; `done` is called
// once, later.

#include <functional>
#include <string>
#include <vector>

#include "hai/v1/api.pb.h"
#include "server/api/large_specs.h"
#include "server/api/source.h"
#include "server/control/engine/controller.h"

namespace hai {

inline constexpr size_t kActionsMax = 1'000;
// A whole cluster in one call, so that it is all or nothing.
inline constexpr size_t kNodesAtOnceMax = 20'000;
inline constexpr size_t kUserGroupsMax = 64;

struct NodeChange {
  v1::NodeAction action = v1::NODE_ACTION_UNSPECIFIED;
  std::string reason;
  std::optional<UnixTime> deadline = {};  // of drain only
};

struct ActionResult {
  std::string name;  // as asked
  JobId job;         // none for nodes and unknown jobs
  Status status;
  std::string message;  // for people: what happens next
};

struct Submission {
  JobSpec spec;
  std::string request_id;
};

class Actions {
 public:
  explicit Actions(Controller& controller) : controller_(controller) {}

  // Validates, then submits.
  void submit_job(const Caller& caller, Submission submission, Done<CommandReply> done);
  void submit_jobs(const Caller& caller, std::vector<Submission> submissions,
                   Done<std::vector<ActionResult>> done);

  void control_jobs(const Caller& caller, const std::vector<std::string>& jobs,
                    v1::JobAction action, const std::string& reason,
                    Done<std::vector<ActionResult>> done);
  void set_priority(const Caller& caller, const std::string& job, Priority priority,
                    Done<CommandReply> done);
  // In groups, to find the bad one among them; host lists as for control_nodes.
  void validate_together(const Caller& caller, const std::vector<std::string>& nodes,
                         Done<std::vector<ActionResult>> done);
  void close_incident(const Caller& caller, CloseIncident close, Done<CommandReply> done);
  void move_job(const Caller& caller, MoveJob move, Done<CommandReply> done);

  // Names or host lists.
  void control_nodes(const Caller& caller, const std::vector<std::string>& nodes,
                     const NodeChange& change, Done<std::vector<ActionResult>> done);

  void set_user(const Caller& caller, const User& user, Done<CommandReply> done);
  void add_token(const Caller& caller, const Token& token, Done<CommandReply> done);

  // No priority = each level; nodes < 0 = unlimited.
  void set_quota(const Caller& caller, Quota quota, std::optional<Priority> priority,
                 Done<CommandReply> done);
  void remove_quota(const Caller& caller, Quota quota, std::optional<Priority> priority,
                    Done<CommandReply> done);

 private:
  struct Item {
    std::string name;
    Command command;
  };
  void run_all(const Caller& caller, std::vector<Item> items, Done<std::vector<ActionResult>> done);
  // `go` if there are nodes of all these names: a list with a slip of the pen must not drain half
  // of what was meant.
  void when_known(const Caller& caller, std::vector<std::string> nodes, std::function<void()> go,
                  Done<std::vector<ActionResult>> done);
  void run_until_error(const Caller& caller, std::vector<Item> items, Done<CommandReply> done);

  // What is stored for ever must not be more than its owner may have stored.
  Status check_size(const Caller& caller, const JobSpec& spec);

  Controller& controller_;
  LargeSpecs large_specs_;
};

}  // namespace hai
