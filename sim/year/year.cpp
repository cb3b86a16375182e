#include "sim/year/year.h"

#include <algorithm>

#include "server/control/engine/controller.h"
#include "sim/trace/ack_store.h"
#include "sim/year/year_meter.h"
#include "sim/year/year_workload.h"

namespace hai {
namespace {

constexpr Duration kFar = 24h * 365 * 100;
constexpr Duration kDay = 24h;
constexpr double kAlive = 1.3;  // unfinished jobs ask for so many times the cluster
constexpr Duration kFeedPeriod = 10min;
// A person comes to a node that waits for service within these.
constexpr Duration kServiceSoonest = 2h;
constexpr Duration kServiceLatest = 24h;

class Year final : public EventSink {
 public:
  Year(const TraceCluster& cluster, Failures failures, const YearOptions& options)
      : cluster_(cluster),
        options_(options),
        loop_(timeline_),
        store_(loop_),
        rng_(options.seed),
        jobs_(make_year_jobs({.nodes = static_cast<int>(cluster.nodes.size()),
                              .long_nodes = options.long_job_nodes,
                              .days = options.days},
                             rng_.next())),
        machines_(timeline_, cluster, rng_.next(),
                  [this](int job, bool by_itself) { note_failure(job, by_itself); }),
        meter_(jobs_, machines_, static_cast<int>(cluster.nodes.size()), loop_.wall_now()),
        fleet_(timeline_, cluster, jobs_,
               {.seed = options.seed,
                .report_period = 15min,
                .model = [seed = options.seed](int job) { return year_job_model(seed, job); },
                .machines = &machines_},
               [this](const RunEnded& run) { meter_.run_ended(run); }),
        failures_(std::move(failures)),
        controller_(
            loop_, store_, fleet_, this, options.knobs,
            {.admin_user = std::string(kTraceAdmin), .public_quota_nodes = Quota::kUnlimited},
            "year") {}

  YearMeasures run() {
    set_up();
    const auto length = Duration(static_cast<int64_t>(options_.days * 8.64e10));
    for (Duration day{0}; day < length; day += kDay) {
      timeline_.run_until(MonoTime(std::min(length, day + kDay)));
      if (options_.progress) options_.progress(static_cast<double>((day + kDay) / kDay));
    }
    YearMeasures measures = meter_.measures(controller_.state(), loop_.wall_now());
    const Duration ran = timeline_.now() - long_job_since_;
    if (options_.long_job_nodes > 0) {
      measures.long_job.effective =
          static_cast<double>(fleet_.work_done(0).count()) / static_cast<double>(ran.count());
    }
    return measures;
  }

  void durable(const std::vector<Event>& events, const ClusterState& state) override {
    meter_.durable(events, state);
    if (options_.on_events) options_.on_events(events);
    for (const Event& event : events) {
      std::visit([&](const auto& body) { on(body, state); }, event.body);
    }
  }

 private:
  void command(Command command) {
    controller_.submit({.trusted_user = std::string(kTraceAdmin)}, std::move(command),
                       [](const Result<CommandReply>& reply) { CHECK(reply.is_ok()); });
  }

  void set_up() {
    controller_.start();
    timeline_.run_until(timeline_.now() + 1s);
    CHECK(controller_.is_leading());
    fleet_.connect(controller_);
    timeline_.run_until(timeline_.now() + 1s);
    for (int user = 0; user < kYearUsers; ++user) command(SetUser{{.name = user_name(user)}});
    timeline_.run_until(timeline_.now() + 1s);
    beat();
    if (options_.long_job_nodes > 0) {
      submit(0, Priority::high);
      long_job_since_ = timeline_.now();
    }
    feed();
    machines_.begin(fleet_, std::move(failures_));
  }

  static std::string user_name(int user) { return "user-" + std::to_string(user + 1); }

  // What agents in contact do; those that are silent are not connected.
  void beat() {
    controller_.agents_are_well();
    loop_.call_after(options_.knobs.heartbeat, [this] { beat(); });
  }

  // ---- work

  void submit(size_t index, Priority priority) {
    const TraceJob& job = jobs_[index];
    JobSpec spec;
    spec.name = Fleet::name_of(static_cast<int>(index));
    spec.priority = priority;
    spec.entrypoint = "train.py";
    spec.group = cluster_.group();
    spec.node_count = job.nodes;
    alive_nodes_ += job.nodes;
    controller_.submit({.trusted_user = user_name(job.user)}, SubmitJob{std::move(spec), ""},
                       [](const Result<CommandReply>& reply) { CHECK(reply.is_ok()); });
  }

  void feed() {
    const double wanted = kAlive * static_cast<double>(cluster_.nodes.size());
    while (static_cast<double>(alive_nodes_) < wanted && next_job_ < jobs_.size()) {
      submit(next_job_++, Priority::normal);
    }
    loop_.call_after(kFeedPeriod, [this] { feed(); });
  }

  void note_failure(int job, bool by_itself) {
    if (by_itself) return meter_.failed_by_itself(job);
    meter_.failed_by_hardware(job, loop_.wall_now());
  }

  void on(const JobFinished& event, const ClusterState& state) {
    const Job* job = state.find(event.job);
    if (job != nullptr && !job->spec->is_validation) alive_nodes_ -= job->spec->node_count;
  }
  void on(const JobReopened& event, const ClusterState& state) {
    alive_nodes_ += state.find(event.job)->spec->node_count;
  }

  // ---- nodes

  static int index_of(NodeId node) { return static_cast<int>(node.value) - 1; }

  // The server's orders for repairs answer a node's report; its next heartbeats fetch them.
  void nudge(NodeId node) {
    for (int beats : {1, 2, 3}) {
      loop_.call_after(options_.knobs.heartbeat * beats, [this, index = index_of(node)] {
        if (fleet_.is_connected(index)) fleet_.checks_changed(index);
      });
    }
  }

  void on(const NodeCheckHandled& event, const ClusterState&) { nudge(event.node); }
  void on(const NodeLivenessChanged& event, const ClusterState&) {
    if (event.liveness == Liveness::suspect) nudge(event.node);
  }
  void on(const NodeRepairChanged& event, const ClusterState& state) {
    nudge(event.node);
    const Node& node = *state.find(event.node);
    const int index = index_of(event.node);
    if (event.repair.step != RepairStep::service || machines_.is_out_by_file(index)) return;
    if (!serviced_.insert(event.node).second) return;
    const Duration wait(rng_.between(kServiceSoonest.count(), kServiceLatest.count()));
    loop_.call_after(wait, [this, id = node.id] { service(id); });
  }
  void on(const auto&, const ClusterState&) {}

  // A person mends what is broken and gives the node back, unless it came back without him.
  void service(NodeId id) {
    serviced_.erase(id);
    const Node& node = *controller_.state().find(id);
    if (node.health.repair.step != RepairStep::service) return;
    machines_.service(index_of(id), node.health.repair.is_lemon);
    loop_.call_after(1min, [this, name = node.facts.name] { command(UndrainNode{name}); });
  }

  const TraceCluster& cluster_;
  const YearOptions& options_;
  Timeline timeline_;
  VirtualLoop loop_;
  AckStore store_;
  Rng rng_;
  const std::vector<TraceJob> jobs_;
  Machines machines_;
  YearMeter meter_;
  Fleet fleet_;
  Failures failures_;
  Controller controller_;
  size_t next_job_ = 1;
  int64_t alive_nodes_ = 0;
  MonoTime long_job_since_{};
  std::set<NodeId> serviced_;
};

}  // namespace

Knobs year_knobs() {
  Knobs knobs;
  knobs.server_lease = kFar;
  knobs.plan_period = 1min;
  knobs.plan_gap = 1s;
  knobs.finished_jobs_kept = 1'000;
  knobs.append_batch_max = 100'000;
  return knobs;
}

YearMeasures run_year(const TraceCluster& cluster, Failures failures, const YearOptions& options) {
  return Year(cluster, std::move(failures), options).run();
}

}  // namespace hai
