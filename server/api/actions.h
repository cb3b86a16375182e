#pragma once
// What people can do, for gRPC and HTTP alike: many at once, each with its own result, and the
// shorthand the controller does not know ("*", host lists). On the loop's thread; `done` is called
// once, later.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hai/v1/api.pb.h"
#include "server/api/ended_jobs.h"
#include "server/api/image_pins.h"
#include "server/api/launch_look.h"
#include "server/api/sights.h"
#include "server/api/source.h"
#include "server/api/store_shares.h"
#include "server/auth/seal.h"
#include "server/control/engine/controller.h"

namespace hai {

inline constexpr size_t kActionsMax = 1'000;
// A whole cluster in one call, so that it is all or nothing.
inline constexpr size_t kNodesAtOnceMax = 20'000;

struct NodeChange {
  v1::NodeAction action = v1::NODE_ACTION_UNSPECIFIED;
  std::string reason;
  std::optional<UnixTime> deadline = {};  // of drain only
  NodeSettings settings = {};             // of set only, as the next
  std::vector<std::string> reset = {};
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
  Status image = ok();  // why there is no such image, or a folder of the node is not to be had
};

class Actions {
 public:
  struct Settings {
    Sights sights = Sights();
    History* history = nullptr;
    const Sealer* sealer = nullptr;  // of users' secrets; null = there is no key for it
    ImagePins* images = nullptr;     // null = names of images stay as they are
    AskNode ask_node = nullptr;      // null = nobody looks at what jobs name by a path
  };
  explicit Actions(Controller& controller) : Actions(controller, Settings{}) {}
  Actions(Controller& controller, const Settings& settings)
      : controller_(controller),
        settings_(settings),
        ended_jobs_(controller, settings.history, settings.sights),
        shares_(controller) {}

  // Validates, then submits.
  void submit_job(const Caller& caller, Submission submission, Done<CommandReply> done);
  void submit_jobs(const Caller& caller, std::vector<Submission> submissions,
                   Done<std::vector<ActionResult>> done);

  // Submits what is as the old job was; `old` is of the history, or a copy of what is in memory.
  void rerun_job(const Caller& caller, std::shared_ptr<const Job> old, const std::string& name,
                 const std::string& request_id, Done<CommandReply> done);
  void edit_job(const Caller& caller, EditJob edit, Done<CommandReply> done);

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

  // Of the caller; the value is sealed before it goes anywhere. Gives the row as it is then.
  void set_secret(const Caller& caller, const std::string& name,
                  std::shared_ptr<const WipedText> value, Done<Secret> done);
  // "" = the caller's.
  void remove_secret(const Caller& caller, const std::string& user, const std::string& name,
                     Done<CommandReply> done);

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
    Status refusal = ok();  // then the command is not even tried
  };
  void run_all(const Caller& caller, std::vector<Item> items, Done<std::vector<ActionResult>> done);
  // `go` if there are nodes of all these names: a list with a slip of the pen must not drain half
  // of what was meant.
  void when_known(const Caller& caller, std::vector<std::string> nodes, std::function<void()> go,
                  Done<std::vector<ActionResult>> done);
  void run_until_error(const Caller& caller, std::vector<Item> items, Done<CommandReply> done);

  // What users change of jobs, secrets and tokens goes through here, and is counted.
  void change(const Caller& caller, Command command, Done<CommandReply> done);
  // not_found for the first of these jobs that the caller does not see; what is no number is one of
  // his own.
  Status check_seen(const Caller& caller, const std::vector<std::string>& jobs) const;

  // From that one on, names of images get their digests; then `next`.
  using Submissions = std::shared_ptr<std::vector<Submission>>;
  void pin_images(const Caller& caller, Submissions submissions, size_t index,
                  std::function<void()> next);
  void look_at_node(const std::string& user, Submission& one, std::function<void()> next);
  std::string wants_pin(const Caller& caller, const Submission& submission) const;

  // With what is known of the jobs that it depends on.
  void submit_all(const Caller& caller, std::vector<Submission> submissions,
                  const std::vector<EndedJob>& history, Done<std::vector<ActionResult>> done);
  void submit_pinned(const Caller& caller, Submission submission, Done<CommandReply> done);
  void submit_checked(const Caller& caller, Submission submission, std::vector<EndedJob> history,
                      Done<CommandReply> done);

  Controller& controller_;
  const Settings settings_;
  const EndedJobs ended_jobs_;
  StoreShares shares_;
};

}  // namespace hai
