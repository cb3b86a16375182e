// Events as sentences. They complete "ACTOR: …" in a list, so they start in lower case.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "common/count_of.h"
#include "common/hostlist.h"
#include "server/api/event_view.h"
#include "server/store/json_codec.h"

namespace hai {

namespace {

std::string because(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

struct Sentence {
  const ClusterState& state;

  std::string name_of(NodeId id) const {
    const Node* node = state.find(id);
    return node == nullptr ? fmt::format("node {}", id.value) : node->facts.name;
  }
  std::string nodes_of(const Placement& placement) const {
    static constexpr size_t kTextMax = 200;
    std::vector<std::string> names;
    for (const auto& rank : placement) names.push_back(name_of(rank.node));
    std::string text = format_hostlist(std::move(names));
    if (text.size() > kTextMax) text = text.substr(0, kTextMax) + "…";
    return text;
  }

  std::string operator()(const EpochStarted& event) const {
    return fmt::format("this server leads as epoch {}", event.epoch.value);
  }
  std::string operator()(const UserSet& event) const {
    return fmt::format("user {} is {} and {}", event.user.name, to_string(event.user.role),
                       event.user.active ? "active" : "not active");
  }
  std::string operator()(const QuotaSet& event) const {
    const Quota& quota = event.quota;
    return fmt::format(
        "quota of {} in {}/{} is {}", quota.owner, quota.group, to_string(quota.priority),
        quota.nodes >= Quota::kUnlimited ? "unlimited" : count_of(quota.nodes, "node"));
  }
  std::string operator()(const QuotaRemoved& event) const {
    return fmt::format("quota of {} in {}/{} is removed", event.quota.owner, event.quota.group,
                       to_string(event.quota.priority));
  }
  std::string operator()(const TokenSet& event) const {
    const Token& token = event.token;
    if (token.kind == TokenKind::join) {
      return fmt::format("{} machines may join as {} with a token of {}", token.uses_left,
                         token.nodes, token.user);
    }
    if (token.kind == TokenKind::session) return fmt::format("{} signed in", token.user);
    return fmt::format("{} has a new token {}", token.user, token.label);
  }
  std::string operator()(const TokensUsed& event) const {
    return fmt::format("{} tokens were used", event.used.size());
  }
  std::string operator()(const SecretSet& event) const {
    return fmt::format("{} set the secret {}", event.secret.user, event.secret.name);
  }
  std::string operator()(const SecretRemoved& event) const {
    return fmt::format("the secret {} of {} is removed", event.name, event.user);
  }
  std::string operator()(const NodeIdentitySet& event) const {
    const NodeIdentity& identity = event.identity;
    if (identity.revoked_at && *identity.revoked_at >= identity.issued_at) {
      return "no certificate of " + identity.node + " is believed any more" + because(event.reason);
    }
    return fmt::format("{} has a certificate until {}", identity.node,
                       format_rfc3339(identity.expires_at));
  }
  std::string operator()(const UserRemoved& event) const {
    return fmt::format("{} is no user any more", event.user);
  }
  std::string operator()(const NodeRemoved& event) const {
    return fmt::format("{} is out of the cluster{}", name_of(event.node), because(event.reason));
  }
  std::string operator()(const NodeSet& event) const {
    const std::string what = event.settings.text();
    return (what.empty() ? "as its agent says, nothing is set" : "set to " + what) +
           because(event.reason);
  }
  std::string operator()(const KnobSet& event) const {
    return fmt::format("knob {} is set to {}{}", event.setting.name, event.setting.value,
                       because(event.setting.reason));
  }
  std::string operator()(const KnobUnset& event) const {
    return fmt::format("knob {} is {} again, as configured{}", event.name, event.value,
                       because(event.reason));
  }
  std::string operator()(const TokenRevoked&) const { return "a token is revoked"; }
  static std::string origin(const JobSubmitted& event) {
    if (event.array_task) {
      return fmt::format(" as task {} of array {}", event.array_task->index,
                         event.array_task->array.value);
    }
    return event.rerun_of ? fmt::format(" as job {} was", event.rerun_of->value) : "";
  }
  std::string operator()(const JobSubmitted& event) const {
    return fmt::format("{} submitted{}: {} of {}, priority {}", event.spec->name, origin(event),
                       count_of(event.spec->node_count, "node"), event.spec->group,
                       to_string(event.spec->priority));
  }
  std::string operator()(const JobEdited& event) const {
    std::string text;
    if (event.timeout) text += ", time limit " + format_duration(*event.timeout);
    if (event.node_count) text += ", " + count_of(*event.node_count, "node");
    if (event.begin_at) {
      text += *event.begin_at == UnixTime{} ? ", begins at once"
                                            : ", begins at " + format_rfc3339(*event.begin_at);
    }
    if (event.array_limit) {
      text += *event.array_limit == 0
                  ? ", any number of tasks at once"
                  : fmt::format(", {} at once", count_of(*event.array_limit, "task"));
    }
    if (event.tags) text += fmt::format(", tags {}", fmt::join(*event.tags, " "));
    return "edited: " + (text.empty() ? "nothing" : text.substr(2));
  }
  std::string operator()(const JobUsesSdk&) const { return "its program uses the SDK"; }
  std::string operator()(const JobHeld& event) const { return "held" + because(event.reason); }
  std::string operator()(const JobReleased&) const { return "released"; }
  std::string operator()(const JobPriorityChanged& event) const {
    return fmt::format("priority is {}", to_string(event.priority));
  }
  std::string operator()(const JobRankChanged& event) const {
    return fmt::format("moved among its user's jobs to rank {}", event.custom_rank);
  }
  std::string operator()(const JobStopRequested& event) const {
    return "asked to stop" + because(event.reason);
  }
  std::string operator()(const JobFinished& event) const {
    const std::string code =
        event.state == JobState::failed ? fmt::format(" with exit code {}", event.exit_code) : "";
    return std::string(to_string(event.state)) + code + because(event.reason);
  }
  std::string operator()(const NodesReserved& event) const {
    std::vector<int64_t> victims;
    for (JobId job : event.reservation.victims) victims.push_back(job.value);
    return fmt::format("nodes held for it: {}; jobs asked to leave: {}",
                       nodes_of(event.reservation.placement), fmt::join(victims, ", "));
  }
  std::string operator()(const ReservationDropped& event) const {
    return "its held nodes are given back" + because(event.reason);
  }
  std::string operator()(const AttemptPlaced& event) const {
    return fmt::format("attempt {} placed on {}", event.attempt, nodes_of(event.placement));
  }
  std::string operator()(const AttemptStarting& event) const {
    return fmt::format("attempt {} starts", event.attempt);
  }
  std::string operator()(const RankRunning& event) const {
    return fmt::format("rank {} of attempt {} runs", event.rank, event.attempt);
  }
  std::string operator()(const RankEnded& event) const {
    if (event.state == RankState::released) {
      return fmt::format("rank {} of attempt {} has ended well and gives its place back",
                         event.rank, event.attempt);
    }
    return fmt::format("rank {} of attempt {} is gone ({}, exit code {}){}", event.rank,
                       event.attempt, to_string(event.cause), event.exit_code,
                       because(event.message));
  }
  std::string operator()(const AttemptRunning& event) const {
    return fmt::format("attempt {} runs on all its nodes", event.attempt);
  }
  std::string operator()(const AttemptSuspending& event) const {
    return fmt::format("attempt {} is asked to save and leave until {}{}", event.attempt,
                       format_rfc3339(event.deadline), because(event.reason));
  }
  std::string operator()(const AttemptContinued& event) const {
    return fmt::format("attempt {} may go on{}", event.attempt, because(event.reason));
  }
  std::string operator()(const AttemptEnding& event) const {
    return fmt::format("attempt {} is ending as {}{}", event.attempt, to_string(event.end.outcome),
                       because(event.end.reason));
  }
  std::string operator()(const AttemptEnded& event) const {
    return fmt::format("attempt {} ended as {}{}", event.attempt, to_string(event.outcome),
                       because(event.reason));
  }
  std::string operator()(const JobRequeued& event) const {
    return "back in the queue" + because(event.reason);
  }
  std::string operator()(const AttemptsSkipped& event) const {
    return fmt::format("attempts up to {} were lost with the database's last events", event.last);
  }
  std::string operator()(const CheckpointReported& event) const {
    return fmt::format("checkpoint of step {} at {}", event.checkpoint.step, event.checkpoint.path);
  }
  std::string operator()(const LifeStateSet& event) const {
    return fmt::format("whole_life_state set in attempt {}", event.attempt);
  }
  std::string operator()(const NodeRegistered& event) const {
    return fmt::format("registered in {} with {}", event.facts.group,
                       count_of(event.facts.gpus, "GPU"));
  }
  std::string operator()(const NodeLivenessChanged& event) const {
    return std::string(to_string(event.liveness)) + because(event.reason);
  }
  std::string operator()(const NodeSchedulingChanged& event) const {
    std::string what(to_string(event.scheduling));
    if (event.drain_at) what += ", to be drained by " + format_rfc3339(*event.drain_at);
    return what + because(event.reason);
  }
  std::string operator()(const NodePeersNamed& event) const {
    std::vector<std::string> names;
    for (NodeId peer : event.peers) names.push_back(name_of(peer));
    return names.empty() ? "has no peers to ask"
                         : "is to ask " + format_hostlist(std::move(names)) + " if cut off";
  }
  std::string operator()(const NodePeersConfirmed&) const { return "knows whom to ask if cut off"; }
  std::string operator()(const IncidentOpened& event) const { return event.summary; }
  std::string operator()(const IncidentChanged& event) const { return event.summary; }
  std::string operator()(const IncidentClosed& event) const { return "closed: " + event.reason; }
  std::string operator()(const IncidentNoted& event) const { return event.text; }
  std::string operator()(const NodeCheckChanged& event) const {
    const CheckResult& check = event.check;
    return fmt::format("{}{}{} is {}{}", check.name, check.subject.empty() ? "" : " ",
                       check.subject, to_string(check.verdict), because(check.summary));
  }
  std::string operator()(const NodeCheckHandled& event) const {
    return fmt::format("{}{}{}: {}", event.name, event.subject.empty() ? "" : " ", event.subject,
                       to_string(event.done));
  }
  std::string operator()(const NodeMarked& event) const {
    const std::string job = event.cause ? fmt::format(" (job {})", event.cause.value) : "";
    return fmt::format("counts against it: {}{}",
                       NodeMark{.kind = event.kind, .about = event.about}.text(), job);
  }
  std::string operator()(const NodeRepairChanged& event) const {
    if (event.repair.step == RepairStep::none) {
      return event.repair.incident
                 ? fmt::format("incident {} is about it", event.repair.incident.value)
                 : "its repair is over";
    }
    return fmt::format("repair: {}{}", to_string(event.repair.step), because(event.repair.reason));
  }
  std::string operator()(const NodeValidated& event) const {
    return fmt::format("validation {}{}", event.passed ? "passed" : "failed",
                       because(event.summary));
  }
  std::string operator()(const JobReopened& event) const {
    return "back in the queue" + because(event.reason);
  }
};

std::string subject_of(const ClusterState& state, const EventBody& body) {
  if (JobId job = job_of(body)) return fmt::format("job/{}", job.value);
  if (NodeId node = node_of(body)) return "node/" + Sentence{state}.name_of(node);
  if (const auto* set = std::get_if<UserSet>(&body)) return "user/" + set->user.name;
  if (const auto* removed = std::get_if<UserRemoved>(&body)) return "user/" + removed->user;
  if (const auto* set = std::get_if<KnobSet>(&body)) return "knob/" + set->setting.name;
  if (const auto* unset = std::get_if<KnobUnset>(&body)) return "knob/" + unset->name;
  if (const auto* set = std::get_if<TokenSet>(&body)) return "user/" + set->token.user;
  if (const auto* set = std::get_if<SecretSet>(&body)) return "user/" + set->secret.user;
  if (const auto* removed = std::get_if<SecretRemoved>(&body)) return "user/" + removed->user;
  if (const auto* set = std::get_if<NodeIdentitySet>(&body)) return "node/" + set->identity.node;
  return std::visit(
      [](const auto& event) -> std::string {
        if constexpr (requires { event.incident; }) {
          return fmt::format("incident/{}", event.incident.value);
        } else {
          return {};
        }
      },
      body);
}

// What is sealed stays in the store, and environments may hold passwords: events are read by many.
std::string public_json(const EventBody& body) {
  if (const auto* set = std::get_if<SecretSet>(&body)) {
    SecretSet copy = *set;
    copy.secret.sealed.clear();
    return to_json(EventBody(std::move(copy)));
  }
  const auto* submitted = std::get_if<JobSubmitted>(&body);
  if (submitted == nullptr) return to_json(body);
  JobSubmitted copy = *submitted;
  copy.spec = shown_spec(copy.spec, Seen::program);
  return to_json(EventBody(std::move(copy)));
}

template <typename Body>
std::optional<EventBody> without(const Body& body, std::string Body::*words) {
  if ((body.*words).empty()) return std::nullopt;
  Body row = body;
  (row.*words).clear();
  return row;
}

}  // namespace

std::optional<EventBody> row_of(const EventBody& body) {
  if (const auto* submitted = std::get_if<JobSubmitted>(&body)) {
    JobSubmitted row = *submitted;
    row.request_id.clear();
    row.spec = shown_spec(row.spec, Seen::row);
    return row;
  }
  if (const auto* edited = std::get_if<JobEdited>(&body)) {
    if (!edited->tags) return std::nullopt;
    JobEdited row = *edited;
    row.tags.reset();
    return row;
  }
  if (const auto* ending = std::get_if<AttemptEnding>(&body)) {
    AttemptEnding row = *ending;
    row.end.reason.clear();
    return row;
  }
  if (const auto* rank = std::get_if<RankEnded>(&body)) return without(*rank, &RankEnded::message);
  if (const auto* end = std::get_if<AttemptEnded>(&body))
    return without(*end, &AttemptEnded::reason);
  if (const auto* end = std::get_if<JobFinished>(&body)) return without(*end, &JobFinished::reason);
  if (const auto* stop = std::get_if<JobStopRequested>(&body)) {
    return without(*stop, &JobStopRequested::reason);
  }
  if (const auto* again = std::get_if<JobRequeued>(&body))
    return without(*again, &JobRequeued::reason);
  if (const auto* again = std::get_if<JobReopened>(&body))
    return without(*again, &JobReopened::reason);
  if (const auto* opened = std::get_if<IncidentOpened>(&body)) {
    if (!job_of_incident(opened->subject)) return std::nullopt;
    IncidentOpened row = *opened;
    row.summary = row_of_hang(row.summary);
    return row;
  }
  return std::nullopt;
}

EventView view_event(const ClusterState& state, const Event& event, const Sight& sight,
                     const std::string& owner) {
  std::optional<EventBody> row;
  if (sight.is_limited() && sight.of(owner) < Seen::program) row = row_of(event.body);
  const EventBody& body = row ? *row : event.body;
  EventView view{.seq = event.seq,
                 .at = event.time,
                 .actor = event.actor,
                 .kind = std::string(kind_of(body)),
                 .subject = subject_of(state, body),
                 .text = sight.clean(std::visit(Sentence{state}, body)),
                 .body_json = sight.clean(public_json(body)),
                 .job = job_of(body).value};
  if (const auto* reported = std::get_if<CheckpointReported>(&body)) view.checkpoint = *reported;
  if (NodeId node = node_of(body)) view.node = Sentence{state}.name_of(node);
  return view;
}

}  // namespace hai
