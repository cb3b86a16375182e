#include "sim/trace/replay.h"

#include <algorithm>
#include <array>
#include <optional>

#include "sim/trace/ack_store.h"

namespace hai {
namespace {

constexpr Duration kFar = 24h * 365 * 100;
constexpr Duration kSetup = 60s;  // virtual time in which nodes and users come, before the trace
// Longer than any outage: if nothing runs for so long after the last submit, nothing will.
constexpr Duration kStuck = 24h * 60;
constexpr Duration kLongest = 24h * 365 * 50;  // of virtual time
constexpr int64_t kCallbacksBetweenProgress = 2'000;

class Replay final : public EventSink {
 public:
  Replay(const TraceCluster& cluster, const Trace& trace, Failures failures,
         const ReplayOptions& options)
      : cluster_(cluster),
        trace_(trace),
        options_(options),
        loop_(timeline_),
        store_(loop_),
        meter_(trace.jobs, cluster.gpus_per_node, loop_.wall_now() + kSetup),
        fleet_(timeline_, cluster, trace.jobs, options.fleet,
               [this](const RunEnded& run) { meter_.run_ended(run); }),
        failures_(std::move(failures)),
        controller_(
            loop_, store_, fleet_, this, options.knobs,
            {.admin_user = std::string(kTraceAdmin), .public_quota_nodes = Quota::kUnlimited},
            "trace",
            std::make_unique<MeasuredPlanner>(options.make_planner(fleet_), result_.plan)) {}

  ReplayResult run() {
    set_up();
    loop_.call_after(kSetup - now(), [this] { begin(); });
    timeline_.run_until(MonoTime::max(), [this] { return is_over(); });
    result_.measures = meter_.measures();
    result_.series = meter_.series();
    return std::move(result_);
  }

  void durable(const std::vector<Event>& events, const ClusterState& state) override {
    meter_.durable(events, state);
    if (options_.on_events) options_.on_events(events);
  }

 private:
  Duration now() const { return timeline_.now().time_since_epoch(); }
  Duration trace_time() const { return now() - kSetup; }

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
    for (const std::string& user : trace_.users) command(SetUser{{.name = user}});
    timeline_.run_until(timeline_.now() + 1s);
  }

  void begin() {
    if (!failures_.is_empty()) next_outage();
    submit_due();
  }

  // All jobs of one moment, then a timer for the next one.
  void submit_due() {
    const std::vector<TraceJob>& jobs = trace_.jobs;
    while (next_job_ < jobs.size() && jobs[next_job_].submit <= trace_time()) submit(next_job_++);
    if (next_job_ == jobs.size()) return;
    loop_.call_after(jobs[next_job_].submit - trace_time(), [this] { submit_due(); });
  }

  void submit(size_t index) {
    const TraceJob& job = trace_.jobs[index];
    JobSpec spec;
    spec.name = Fleet::name_of(static_cast<int>(index));
    spec.priority = Priority::normal;
    spec.entrypoint = "train.py";
    spec.group = cluster_.group();
    spec.node_count = job.nodes;
    spec.gpus_per_node = job.gpus_per_node;
    last_news_ = now();
    controller_.submit({.trusted_user = trace_.users[job.user]}, SubmitJob{std::move(spec), ""},
                       [this](const Result<CommandReply>& reply) {
                         if (reply.is_ok()) return;
                         if (result_.refused++ == 0)
                           result_.first_refusal = reply.status().message();
                       });
  }

  void next_outage() {
    Outage outage = failures_.next();
    loop_.call_after(std::max(Duration{0}, outage.start - trace_time()), [this, outage] {
      begin_outage(outage);
      next_outage();
    });
  }

  void begin_outage(const Outage& outage) {
    const std::string& name = cluster_.nodes[outage.node].name;
    if (fleet_.break_node(outage.node)) command(CordonNode{name, outage.reason});
    loop_.call_after(outage.end - trace_time(), [this, node = outage.node, name] {
      if (fleet_.repair_node(node)) command(UndrainNode{name});
    });
  }

  bool is_over() {
    if (++callbacks_ % kCallbacksBetweenProgress == 0 && options_.progress)
      options_.progress(meter_, trace_time());
    if (next_job_ < trace_.jobs.size()) return false;
    if (meter_.ended() + result_.refused == std::ssize(trace_.jobs)) return true;
    if (meter_.running() > 0) last_news_ = now();
    result_.is_stuck = now() - last_news_ > kStuck || now() > kLongest;
    return result_.is_stuck;
  }

  const TraceCluster& cluster_;
  const Trace& trace_;
  const ReplayOptions& options_;
  ReplayResult result_;
  Timeline timeline_;
  VirtualLoop loop_;
  AckStore store_;
  Meter meter_;
  Fleet fleet_;
  Failures failures_;
  Controller controller_;
  size_t next_job_ = 0;
  int64_t callbacks_ = 0;
  Duration last_news_{0};
};

}  // namespace

Knobs replay_knobs() {
  Knobs knobs;
  knobs.heartbeat = knobs.agent_lease = knobs.down_after = kFar;
  knobs.server_lease = kFar;
  knobs.resend_after = kFar;  // No order is ever lost.
  knobs.plan_period = 5min;
  knobs.plan_gap = 1s;
  knobs.max_unfinished_jobs_per_user = 10'000'000;
  knobs.finished_jobs_kept = 100;
  knobs.validate_period = Duration(0);  // A trace says nothing of nodes' health.
  knobs.append_batch_max = 1'000'000;
  return knobs;
}

bool is_replay_knob(const std::string& name) {
  constexpr auto kWithout = std::to_array<std::string_view>(
      {"heartbeat", "agent_lease", "down_after", "server_lease", "resend_after"});
  return std::ranges::find(kWithout, name) == kWithout.end();
}

ReplayResult replay(const TraceCluster& cluster, const Trace& trace, Failures failures,
                    const ReplayOptions& options) {
  return Replay(cluster, trace, std::move(failures), options).run();
}

}  // namespace hai
