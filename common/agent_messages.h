#pragma once
// What server and agent say to each other, as plain values (proto/convert maps them to protobuf;
// the simulator carries them as they are). The protocol is level-triggered: a report always lists
// every rank the agent has, an order says what should be, and both can be lost or repeated without
// harm.

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/gpu_set.h"
#include "common/hang_signs.h"
#include "common/health.h"
#include "common/id.h"
#include "common/job_spec.h"
#include "common/time.h"
#include "common/validation.h"

namespace hai {

// ---- agent to server

struct NodeFacts {
  std::string name;
  std::string group;
  std::string zone;
  std::string leaf;
  std::string address;  // where other ranks reach this node: MASTER_ADDR of its gangs
  int gpus = 0;
  int cpus = 0;
  int64_t memory_bytes = 0;
  int numa_nodes = 1;
  std::string gpu_model;
  std::string agent_version;
  std::string boot_id;   // changes when the machine reboots
  int peer_port = 0;     // UDP, where other agents ask whether its lease is alive; 0 = nowhere
  std::string instance;  // of the agent's data directory: random, made once; "" = not told
  std::string machine;   // of the hardware, the same after each boot; "" = not told
  static constexpr size_t kLabelsMax = 32;
  std::vector<std::string> labels = {};  // what jobs may ask for (common/node_filter.h)
  bool operator==(const NodeFacts&) const = default;
};

// Who an agent is, besides its name. Two agents may bear one name by mistake: a copied config, a
// machine that was cloned. All empty for an agent of a version that does not tell.
struct AgentIdentity {
  std::string instance;
  std::string machine;
  std::string boot_id;
  std::string address;  // from where it dials, for people; tells nobody apart
  bool operator==(const AgentIdentity&) const = default;
};
AgentIdentity identity_of(const NodeFacts& facts);
// Two agents with data directories of their own, as far as both tell.
inline bool is_another_agent(const NodeFacts& one, const NodeFacts& other) {
  return !one.instance.empty() && !other.instance.empty() && one.instance != other.instance;
}

enum class RankPhase { starting, running, exited };

// Why a rank is gone.
enum class ExitCause {
  none,        // it is not gone
  program,     // the program ended by itself: exit_code says how (128 + signal number if a signal
               // ended it)
  go_suspend,  // the program called go_suspend()
  grace_over,  // it was asked to suspend and killed at the deadline
  killed,      // the server ordered it killed
  fenced,      // its lease ended: the node was cut off from the server
  launch_failed,  // it never started; `message` says why
  lost,           // its shim vanished: node reboot, or the shim was killed
  left,           // it was told to save by a signal, and ended after that
};
std::string_view to_string(RankPhase phase);
std::string_view to_string(ExitCause cause);

struct CheckpointInfo {
  int64_t step = 0;
  std::string path;
  double save_seconds = 0;
  UnixTime at{};
  bool operator==(const CheckpointInfo&) const = default;
};

// Why the agent thinks that a rank may hang (common/hang_signs.h).
struct RankSign {
  HangSignKind kind = HangSignKind::silent_log;
  UnixTime since{};
  bool operator==(const RankSign&) const = default;
};

// What the processes of a rank have used, as the kernel counted it of those that ended.
struct RankUsage {
  Duration cpu_time{0};           // of all, user's and system's
  int64_t peak_memory_bytes = 0;  // resident, of the one that had most at once
  bool operator==(const RankUsage&) const = default;
};

// What a program says of its work, such as its loss: the latest of each name. Finite numbers.
using RankMetrics = std::map<std::string, double>;
inline constexpr size_t kRankMetricsMax = 8;
// 1 to 40 of letters, digits and _ . / -
bool is_rank_metric_name(std::string_view name);

struct RankStatus {
  RankKey key;
  RankPhase phase = RankPhase::starting;
  bool suspend_notified = false;  // the program can see the suspend request
  bool uses_sdk = false;          // it has said or asked something at its socket
  ExitCause cause = ExitCause::none;
  int exit_code = 0;
  std::string message;
  UnixTime started_at{};
  UnixTime ended_at{};
  std::optional<CheckpointInfo> checkpoint;  // the latest it reported
  std::optional<int64_t> progress_step;
  RankMetrics metrics;
  std::optional<std::string> whole_life_state;  // the latest it set in this attempt
  std::vector<RankSign> signs;                  // of a hang; one of each kind at most
  std::optional<UnixTime> word_at;  // its last progress or log line; known while there are signs
  std::optional<int> gpu_percent;   // utilisation of the busiest of its GPUs; likewise
  std::vector<Measurement> measurements;  // of a validation that has ended
  std::optional<RankUsage> usage;         // of one that has ended, where its shim could tell
  std::string proof;                      // of its launch, as the order had it
  bool was_ordered = true;  // launched by an order, as far as whoever has this can tell
  bool operator==(const RankStatus&) const = default;
};

// How far a leader's log was durable: what came later in an epoch has a higher seq.
struct LogPosition {
  Epoch epoch;
  int64_t seq = 0;
  auto operator<=>(const LogPosition&) const = default;
};

// What the site's command for a repair said.
struct HookResult {
  int64_t id = 0;  // of the RunHook it answers
  int exit_code = 0;
  std::string message;
  bool operator==(const HookResult&) const = default;
};

inline constexpr int kGpuWattsMax = 10'000;
// What a GPU shows at this moment; absent = its driver does not say.
struct GpuReading {
  std::optional<int> utilization_percent;
  std::optional<int> temperature_celsius;
  std::optional<int> memory_percent;  // of its memory, what is taken
  std::optional<int> power_watts;
  bool operator==(const GpuReading&) const = default;
};

// The first report of a connection carries `facts`; later ones need not.
struct AgentReport {
  std::string node;
  int64_t sequence = 0;  // grows within a connection; a lease grant names the report it answers
  std::optional<NodeFacts> facts;
  // All results, sorted by name and subject; in the first report of a connection in which they are
  // known, and again whenever one has changed.
  std::optional<std::vector<CheckResult>> checks;
  // Of all GPUs, by index; when they have changed, with a report that is sent anyway.
  std::optional<std::vector<GpuReading>> gpu_readings;
  std::optional<HookResult> hook;  // of the last hook, until the next one
  // The latest report of this connection whose grant had arrived; 0 = none yet. It proves to the
  // server that the lease was alive, which having sent a grant does not.
  int64_t granted_sequence = 0;
  int64_t peers_version = 0;      // of the NamePeers it goes by, 0 = none
  LogPosition seen;               // the newest any leader's order named
  std::string seen_proof;         // that order's
  bool is_news_only = false;      // sent soon after another: it asks for no lease
  std::vector<RankStatus> ranks;  // all the agent has, sorted by key
  bool operator==(const AgentReport&) const = default;
};

// ---- agent to agent

// What an agent says of its own lease.
enum class LeaseAnswer {
  unknown,  // it has had none since its machine came up
  alive,
  dead,
};
std::string_view to_string(LeaseAnswer answer);

// ---- server to agent

struct RankPlace {
  std::string node;
  std::string address;
  std::string zone;
  std::string leaf;
  int gpus = 0;  // of the rank; 0 = as many as each other rank has
  bool operator==(const RankPlace&) const = default;
};

// The places of all ranks of an attempt, by rank. Never changed and shared by the orders that carry
// them: 1,000 ranks are launched by 1,000 orders that each name 1,000 places.
class RankPlaces {
 public:
  using value_type = RankPlace;
  using const_iterator = std::vector<RankPlace>::const_iterator;

  RankPlaces() = default;
  RankPlaces(std::vector<RankPlace> places)  // NOLINT: a list of places is such a value.
      : places_(std::make_shared<const std::vector<RankPlace>>(std::move(places))) {}
  RankPlaces(std::initializer_list<RankPlace> places)
      : RankPlaces(std::vector<RankPlace>(places)) {}

  size_t size() const { return all().size(); }
  bool empty() const { return all().empty(); }
  const RankPlace& operator[](size_t rank) const { return all()[rank]; }
  const_iterator begin() const { return all().begin(); }
  const_iterator end() const { return all().end(); }
  void clear() { places_.reset(); }

  bool is_same_object(const RankPlaces& other) const { return places_ == other.places_; }
  bool operator==(const RankPlaces& other) const {
    return is_same_object(other) || all() == other.all();
  }

 private:
  const std::vector<RankPlace>& all() const {
    static const std::vector<RankPlace> kNone;
    return places_ ? *places_ : kNone;
  }
  std::shared_ptr<const std::vector<RankPlace>> places_;
};

// Everything a node needs to start one rank. A repeated launch of a known key changes nothing.
struct LaunchRank {
  RankKey key;
  std::string job_name;
  std::string user;
  std::string workspace;
  std::string entrypoint;
  std::string parameters;
  std::map<std::string, std::string> environments;
  // Variable → name of a secret of `user`. What leaves for the node has its value in `environments`
  // (server/rpc/agent_gateway.h); nothing else ever has.
  std::map<std::string, std::string> secrets;
  LaunchMode launch = LaunchMode::per_node;
  EnvStyle env_style = EnvStyle::hai;
  GpuSet gpus;
  bool exclusive = true;  // the whole node, not a share
  int cpus = 0;
  int64_t memory_bytes = 0;
  // Of the whole attempt. A node may be told less of the others than the server knows: their names
  // and GPUs, and where rank 0 is reached; then its own place is in `here`.
  RankPlaces ranks;
  std::optional<RankPlace> here;
  int master_port = 0;
  std::string suspend_signal;
  int suspend_exit_code = 85;
  Duration watchdog{0};
  std::string checkpoint;        // path of the last one reported, "" if none
  std::string whole_life_state;  // "" if never set
  ProgramOptions program;
  std::string image;           // that the rank runs in, "" = the node itself
  bool is_validation = false;  // run the node's own validator with `parameters`, as the agent
  std::string proof;           // that this node was told to (common/tls/order_proofs.h)
  bool operator==(const LaunchRank&) const = default;
};

// Tell the program to save; kill it `grace` after the order arrived. A rank that
// is not here is reported as ended, and a launch of it that comes later is ignored.
struct SuspendRank {
  RankKey key;
  Duration grace{0};
  // Nobody of its attempt looks at the request: processes that catch SIGTERM get it, and all if
  // none does (docs/design/0009).
  bool tell_by_signal = false;
  bool operator==(const SuspendRank&) const = default;
};
// Take a suspend back: the program goes on.
struct ContinueRank {
  RankKey key;
  bool operator==(const ContinueRank&) const = default;
};
// End it: SIGTERM, 5 s, SIGKILL to the whole process tree.
struct KillRank {
  RankKey key;
  bool take_evidence = false;  // first write down where its processes stand, into its log
  bool operator==(const KillRank&) const = default;
};
// Its end is durable on the server: the agent need not report it any more.
struct ForgetRank {
  RankKey key;
  bool operator==(const ForgetRank&) const = default;
};
// Answers report `report_sequence`. Until `lease` after it sent that report the agent's lease is
// alive; then it asks its peers. Until `fence` after it, ranks may live while it asks; then they
// end unless the peers' answers say that nobody leads (docs/design/0005).
struct GrantLease {
  int64_t report_sequence = 0;
  Duration lease{0};
  Duration heartbeat{0};
  Duration fence{0};       // at least `lease`
  UnixTime server_time{};  // the leader's wall clock, to find clocks that are wrong
  bool operator==(const GrantLease&) const = default;
};
// Where another agent answers.
struct Peer {
  std::string node;
  std::string address;
  int port = 0;
  bool operator==(const Peer&) const = default;
};
// Whom to ask from now on when the lease has ended. The agent goes by the latest version, and says
// so in its reports.
struct NamePeers {
  int64_t version = 0;
  std::vector<Peer> peers;
  bool operator==(const NamePeers&) const = default;
};
// What the site does to mend a node: its own commands, named in the agent's config.
enum class HookAction { reset_gpus, reboot };
std::string_view to_string(HookAction action);

// Runs once per id; an agent that has run it says so in its reports.
struct RunHook {
  int64_t id = 0;
  HookAction action = HookAction::reset_gpus;
  std::string reason;
  bool operator==(const RunHook&) const = default;
};
// What was seen of a fault up to `at` is mended, by somebody's word or by a validation.
struct ClearFault {
  std::string name;
  std::string subject;
  UnixTime at{};
  bool operator==(const ClearFault&) const = default;
};
// The server will not work with this agent; it should log the reason and try again later.
struct RefuseAgent {
  std::string reason;
  bool operator==(const RefuseAgent&) const = default;
};

using OrderBody = std::variant<LaunchRank, SuspendRank, ContinueRank, KillRank, ForgetRank,
                               GrantLease, NamePeers, RunHook, ClearFault, RefuseAgent>;

// An agent ignores orders of an epoch lower than the highest it has seen.
struct AgentOrder {
  Epoch epoch;
  OrderBody body;
  int64_t seq = 0;    // the leader's log was durable up to here
  std::string proof;  // that this node was told so (common/tls/order_proofs.h)
  bool operator==(const AgentOrder&) const = default;
};

}  // namespace hai
