#pragma once
// Everything people can ask, for gRPC and HTTP alike. On the loop's thread; `done` is called once,
// later, on that thread. What the controller has in memory answers first; finished jobs and old
// events come from the history, if there is one.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/api/attempt_view.h"
#include "server/api/event_view.h"
#include "server/api/job_list.h"
#include "server/api/sights.h"
#include "server/api/source.h"
#include "server/control/engine/controller.h"
#include "server/control/history_port.h"

namespace hai {

class EventFeed;
struct EventFilter;

inline constexpr int kNodePageMax = 5'000;

struct EventListRequest {
  std::string job;   // id or name; "" = any
  std::string node;  // "" = any
  std::vector<std::string> kinds;
  std::optional<int64_t> after_seq;   // oldest first from there on
  std::optional<int64_t> before_seq;  // newest first below it; neither: from the newest
  int limit = kPageDefault;
};
struct EventPage {
  std::vector<EventView> events;
  std::optional<int64_t> next;  // after_seq or before_seq of the next page
  int64_t seen_to = 0;          // with after_seq: up to here nothing else passes
};

struct NodeListRequest {
  std::string group, zone, leaf, liveness, scheduling;  // "" = any
  std::string after;                                    // name; "" = from the first
  int limit = kPageMax;                                 // 1 .. kNodePageMax
};
struct NodePage {
  std::vector<NodeView> nodes;  // by name
  std::string next;             // `after` of the next page; "" = the last page
};

struct IncidentView {
  Incident incident;
  std::vector<std::string> nodes;  // names
};

struct IncidentListRequest {
  bool closed = false;  // those that are over, newest first; else the open ones
  IncidentId before;    // of closed ones: only older ones
  int limit = kPageDefault;
};
struct IncidentPage {
  std::vector<IncidentView> incidents;
  IncidentId next;  // `before` of the next page; none = the last page
};

struct QuotaView {
  Quota quota;
  int64_t nodes_used = 0;  // rounded up
};
struct WhoAmIView {
  User user;
  std::vector<QuotaView> quotas;  // in force for him
  std::string cluster;
};

// Of the durable state after event `seq` (model/state_digest.h).
struct DigestView {
  int64_t seq = 0;
  std::string digest;
};

struct ClusterSummary {
  ClusterView view;
  int gpus_reserved = 0;  // unused, but promised to a job whose victims are leaving
  int gpus_draining = 0;  // unused otherwise, on a closed node that is up
  int gpus_broken = 0;    // unused, on nodes that are not up
  int gpus_unheard = 0;   // a job's, on nodes that are not up: nobody knows whether they work
  int gpus_working() const { return view.gpus_used - gpus_unheard; }
  int gpus_not_up() const { return gpus_broken + gpus_unheard; }
  int64_t jobs(const std::string& state) const;
  int64_t last_seq = 0;
  std::string version;
  UnixTime epoch_started_at{};
};
ClusterSummary summarize(const Controller::ReadContext& context);

class Queries {
 public:
  // `history` may be null: then only what is in memory is known.
  Queries(Controller& controller, History* history, EventFeed& feed, Sights sights = Sights())
      : controller_(controller), history_(history), feed_(feed), sights_(std::move(sights)) {}

  // Whose jobs the actor sees; each answer here heeds it.
  Sight sight_of(const ClusterState& state, const Actor& actor) const {
    return sights_.of(state, actor);
  }
  const Sights& sights() const { return sights_; }
  Visibility visibility() const { return sights_.visibility(); }

  // `job` is an id, or a name: the caller's unfinished job of that name, else his latest.
  void get_job(const Caller& caller, const std::string& job, Done<JobView> done);
  void list_jobs(const Caller& caller, const JobListRequest& request, Done<JobPage> done);
  void list_attempts(const Caller& caller, const std::string& job, int limit,
                     Done<std::vector<AttemptView>> done);  // newest first
  void list_events(const Caller& caller, const EventListRequest& request, Done<EventPage> done);

  void get_node(const Caller& caller, const std::string& name, Done<NodeView> done);
  void list_nodes(const Caller& caller, const NodeListRequest& request, Done<NodePage> done);
  // Attempts that are or were there, latest start first; only as far as the history reaches.
  void list_node_jobs(const Caller& caller, const std::string& name, int limit,
                      Done<std::vector<NodeStay>> done);
  void list_incidents(const Caller& caller, const IncidentListRequest& request,
                      Done<IncidentPage> done);
  void get_cluster(const Caller& caller, Done<ClusterSummary> done);

  // For admins only.
  void get_digest(const Caller& caller, Done<DigestView> done);

  // What the audit log has, newest first.
  void list_audit(const Caller& caller, const AuditQuery& query, Done<std::vector<AuditRow>> done);

  void who_am_i(const Caller& caller, Done<WhoAmIView> done);
  void list_quotas(const Caller& caller, const std::string& owner,
                   Done<std::vector<QuotaView>> done);
  void list_users(const Caller& caller, Done<std::vector<User>> done);
  // By the short id people see; only one's own, or any for admins.
  void find_token(const Caller& caller, const std::string& id, Done<Token> done);
  void list_tokens(const Caller& caller, const std::string& user, Done<std::vector<Token>> done);

  // "" = the caller's; others' for admins. What is sealed is not in them.
  void list_secrets(const Caller& caller, const std::string& user, Done<std::vector<Secret>> done);

  // The job itself, from memory or history, with the state it belongs to; for logs and watchers.
  struct FoundJob {
    Job job;
    JobView view;
    Seen seen = Seen::nothing;  // by the caller, who may control it if that is all
    // Whether he may read its logs, and it is a job that has some: an array's are its tasks'.
    Status check_log() const;
  };
  void find_job(const Caller& caller, const std::string& job, Done<FoundJob> done);

  EventFeed& feed() { return feed_; }
  Controller& controller() { return controller_; }
  History* history() { return history_; }

 private:
  void jobs_of_history(const Caller& caller, const JobListRequest& request, Done<JobPage> done);
  void closed_incidents(const Caller& caller, const IncidentListRequest& request,
                        Done<IncidentPage> done);
  void events_of_history(const Caller& caller, const EventQuery& query, const EventFilter& filter,
                         Done<EventPage> done);

  Controller& controller_;
  History* history_;
  EventFeed& feed_;
  const Sights sights_;
};

}  // namespace hai
