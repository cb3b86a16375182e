#pragma once
// Lets people into the ranks of their own jobs. A person's stream says where to and what for; the
// rank's agent is asked over its stream of orders, and answers by a stream of its own that shows
// the ticket it was given. From then on each message goes from one to the other. On the loop's
// thread, but for the two services.
//
//   opened ──open──▶ job found, agent asked ──agent joins──▶ started, both ways ──end──▶ done
//      └───────── refused, no agent within kJoinTimeout, or either side gone ────────────▲

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "server/api/image_pins.h"
#include "server/api/queries.h"
#include "server/rpc/call_site.h"
#include "server/rpc/shell_port.h"
#include "server/rpc/shell_stream.h"

namespace hai {

class Shells {
 public:
  static constexpr Duration kJoinTimeout = 30s;  // hundreds at once on a busy node take seconds
  static constexpr Duration kLookTimeout = 5s;
  static constexpr size_t kLooksMax = 32;          // at a time
  static constexpr size_t kMax = 2'000;            // open at once, of all users
  static constexpr Duration kServiceTold = 10min;  // by the audit log, once in so long

  // `wants_certificates`: an agent must prove by one that it is the node that was asked. `images`
  // may be null: then names of images stay as they are.
  Shells(CallSite site, Queries& queries, ShellPort& agents, bool wants_certificates,
         ImagePins* images = nullptr)
      : site_(site),
        queries_(queries),
        agents_(agents),
        wants_certificates_(wants_certificates),
        images_(images) {}

  v1::Shells::CallbackService& of_people() { return of_people_; }
  v1::NodeShells::CallbackService& of_agents() { return of_agents_; }

  // Somebody has come who was let in: what is to be told of him from then on. `address` is where he
  // comes from, for the audit log.
  ShellPeer::Events person_came(const std::shared_ptr<ShellPeer>& person, const Caller& caller,
                                const std::string& address);
  // Has a node look at what a job names by a path (api/launch_look.h). failed_precondition with
  // what it says if the job could not be launched there; else ok, also if it does not answer within
  // kLookTimeout or too many are asked already.
  void look(const std::string& node, const std::vector<std::string>& words,
            std::function<void(const Status&)> done);
  // Ends all of them, e.g. because this server does not lead any more.
  void close_all(const Status& reason);

 private:
  struct Session;
  class Looker;
  using SessionPtr = std::shared_ptr<Session>;

  struct OfPeople final : v1::Shells::CallbackService {
    explicit OfPeople(Shells& owner) : shells(owner) {}
    grpc::ServerBidiReactor<v1::ShellMessage, v1::ShellMessage>* Open(
        grpc::CallbackServerContext* context) override;
    Shells& shells;
  };
  struct OfAgents final : v1::NodeShells::CallbackService {
    explicit OfAgents(Shells& owner) : shells(owner) {}
    grpc::ServerBidiReactor<v1::ShellMessage, v1::ShellMessage>* Join(
        grpc::CallbackServerContext* context) override;
    Shells& shells;
  };

  ShellPeer::Events agent_came(const std::shared_ptr<ShellStream>& stream,
                               const std::string& ticket, const std::vector<std::string>& nodes);
  void from_person(const SessionPtr& session, v1::ShellMessage message);
  void from_agent(const SessionPtr& session, v1::ShellMessage message);
  void open(const SessionPtr& session, const v1::ShellOpen& open);
  void open_images(const SessionPtr& session, const std::string& node);
  void ask_node(const SessionPtr& session);
  void found_job(const SessionPtr& session, const Queries::FoundJob& found);
  static Status find_port(Session& session, const Job& job);
  Status check_may_enter(const Session& session, const Job& job) const;
  // The node does this within kJoinTimeout, or the session ends.
  void expect_by_then(const SessionPtr& session, const char* what);
  void ended(const SessionPtr& session, const v1::ShellEnd& end);
  void end(const SessionPtr& session, const Status& why);
  void note(Session& session, const Status& status);

  const CallSite site_;
  Queries& queries_;
  ShellPort& agents_;
  const bool wants_certificates_;
  ImagePins* images_;
  OfPeople of_people_{*this};
  OfAgents of_agents_{*this};
  std::map<std::string, SessionPtr> sessions_;  // by ticket
  size_t looks_ = 0;
  // Until when an opening is not told again: token, job, service, how it ended.
  std::map<std::tuple<std::string, std::string, std::string, Code>, MonoTime> services_told_;
};

}  // namespace hai
