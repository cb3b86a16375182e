#include "sim/chaos.h"

#include <fmt/core.h>

#include <algorithm>

#include "server/control/nodes/decide_mass_loss.h"
#include "sim/faults.h"
#include "sim/loss_watch.h"
#include "sim/random_world.h"
#include "sim/triggers.h"
#include "sim/workload.h"
#include "sim/world.h"

namespace hai {
namespace {

class Run {
 public:
  Run(uint64_t seed, const ChaosOptions& options)
      : options_(options),
        rng_(seed),
        world_(world_options()),
        faults_(world_, rng_.next()),
        workload_(world_, rng_.next(),
                  world_.node_count() / (world_.node_count() < kLarge ? 1 : 4)),
        loop_(world_.timeline()),
        triggers_(world_, faults_.deeds(), workload_),
        losses_(world_, slowest_append()) {
    if (const WorldPlan* plan = options_.plan) {
      world_.network().model = plan->network;
      for (int i = 0; i < world_.node_count(); ++i)
        world_.node(i).launch_failure_rate = static_cast<double>(plan->launch_failures_ppm) / 1e6;
    }
    if (options_.plan || options_.on_moment || options_.judge)
      watch_points(world_, [this](const Moment& moment) { see(moment); });
    if (options_.record) record(*options_.record);
    if (options_.on_deed || options_.record)
      faults_.deeds().on_deed = [this](const Deed& deed) { tell(deed); };
    workload_.on_act = [this](const Act& act) { tell(act); };
  }

  ChaosResult run(uint64_t seed) {
    for (int i = 0; i < world_.server_count(); ++i) world_.start_server(i);
    for (int i = 0; i < world_.node_count(); ++i) world_.start_agent(i);
    const Duration chaos = options_.plan ? options_.plan->chaos : options_.chaos;
    MonoTime chaos_ends = world_.timeline().now() + chaos;
    if (options_.plan) {
      triggers_.arm(*options_.plan);
    } else {
      act_again(chaos_ends);
      strike_again(chaos_ends);
    }
    explain_again();
    watch_losses();
    auto failed = [&] { return world_.checkers().violation().has_value(); };
    world_.timeline().run_until(chaos_ends, failed);
    if (!failed()) {
      triggers_.stop();
      faults_.deeds().heal();
      liveness(failed);
    }
    if (!failed()) world_.checkers().check_log(world_.database(), world_.knobs());
    if (options_.on_log) options_.on_log(world_.database().events());
    return {.seed = seed,
            .violation = world_.checkers().violation(),
            .is_after_unknowable_loss = failed() && world_.has_unknowable_loss(),
            .digest = world_.digest(),
            .jobs = static_cast<int64_t>(workload_.acknowledged().size()),
            .events = world_.events_seen(),
            .processes = world_.checkers().processes_started(),
            .faults = faults_.count(),
            .fenced = world_.checkers().processes_fenced(),
            .kinds = faults_.kinds(),
            .virtual_time = world_.timeline().now().time_since_epoch()};
  }

 private:
  WorldOptions world_options() {
    WorldOptions options;
    options.seed = rng_.next();
    options.plan_dice = [this](Dice& dice) {
      if (options_.record) dice.record(&options_.record->tape);
      if (options_.plan) dice.play(options_.plan->tape, options_.plan->noise);
    };
    if (const WorldPlan* plan = options_.plan) {
      options.nodes = plan->nodes;
      options.leaves = leaves_ = plan->leaves;
      options.check_every = busier(options.nodes, kNodesPerLook);
      options.drift_ppm_max = plan->drift_ppm_max;
      options.store_goes_back = plan->store_can_go_back;
      options.knobs = plan->knobs;
      return options;
    }
    options.nodes = options_.nodes > 0 ? options_.nodes : static_cast<int>(rng_.between(3, 9));
    options.leaves = static_cast<int>(rng_.between(1, 4)) + options.nodes / kNodesPerLeaf;
    leaves_ = options.leaves;
    options.check_every = busier(options.nodes, kNodesPerLook);
    options.drift_ppm_max = rng_.chance(0.5) ? 1'000 : 0;
    options.store_goes_back = options_.store_goes_back;
    options.asks_for_host = options_.asks_for_host;
    options.knobs = random_knobs(rng_);
    // What a small cluster bears, a large one's agents alone would drown in.
    if (options.nodes >= kLarge) {
      options.knobs.plan_gap = std::max(options.knobs.plan_gap, Duration(100ms));
      options.knobs.append_batch_max += options.nodes / 4;
    }
    return options;
  }

  Duration slowest_append() const {
    if (!options_.plan) return faults_.slowest_append();
    return options_.plan->store_can_be_slow ? Deeds::kSlowest : Deeds::kSlow;
  }

  void see(const Moment& moment) {
    triggers_.see(moment);
    if (options_.on_moment) options_.on_moment(moment, world_);
    if (!options_.judge) return;
    if (auto wrong = options_.judge(moment, world_)) world_.checkers().fail(*wrong);
  }

  // As far as it is known before it runs; deeds and acts follow as they are done.
  void record(WorldPlan& plan) {
    const WorldPlan* played = options_.plan;
    plan.nodes = world_.node_count();
    plan.leaves = leaves_;
    plan.chaos = played ? played->chaos : options_.chaos;
    plan.store_can_be_slow = slowest_append() == Deeds::kSlowest;
    plan.store_can_go_back = world_.store_goes_back();
    plan.network = world_.network().model;
    plan.knobs = world_.knobs();
  }

  void tell(const Deed& deed) {
    if (options_.record)
      options_.record->deeds.push_back({now(), deed, static_cast<int>(faults_.count())});
    if (options_.on_deed) options_.on_deed(deed, world_);
  }

  void tell(const Act& act) {
    if (options_.record) options_.record->acts.push_back({now(), act});
    if (options_.on_act) options_.on_act(act, world_);
  }

  When now() const { return {.at = world_.timeline().now().time_since_epoch()}; }

  // How much more happens in a large cluster.
  static constexpr int kLarge = 100;
  static constexpr int kNodesPerLeaf = 40;
  static constexpr int kNodesPerUser = 150;
  static constexpr int kNodesPerLook = 50;
  static constexpr int kNodesPerFault = 200;
  static int busier(int nodes, int share) { return 1 + nodes / share; }
  int busier(int share) const { return busier(world_.node_count(), share); }

  void act_again(MonoTime until) {
    if (world_.timeline().now() >= until) return;
    workload_.act();
    loop_.call_after(Duration(rng_.between(100'000, 25'000'000)) / busier(kNodesPerUser),
                     [this, until] { act_again(until); });
  }

  void explain_again() {
    loop_.call_after(15s, [this] {
      Controller* leader = world_.leader();
      // Nothing is planned until what a store has lost is settled.
      const bool plans = leader != nullptr && leader->knows_history();
      // A server that leads anew looks at everything anew.
      const Epoch term = leader == nullptr ? Epoch{} : leader->state().epoch();
      if (plans && leader == explained_by_ && term == explained_in_ &&
          leader->stats().passes > passes_then_) {
        world_.checkers().check_explained(leader->state(), leader->soft_facts());
      } else {
        world_.checkers().explain_anew();
      }
      explained_by_ = leader;
      explained_in_ = term;
      passes_then_ = leader == nullptr ? 0 : leader->stats().passes;
      explain_again();
    });
  }

  void watch_losses() {
    loop_.call_after(LossWatch::kPeriod, [this] {
      if (auto wrong = losses_.look()) world_.checkers().fail("incident: " + *wrong);
      watch_losses();
    });
  }

  void strike_again(MonoTime until) {
    loop_.call_after(Duration(rng_.between(1'000'000, 60'000'000)) / busier(kNodesPerFault),
                     [this, until] {
                       if (world_.timeline().now() >= until) return;
                       faults_.strike();
                       strike_again(until);
                     });
  }

  // Everything is healed: in bounded time every acknowledged job has ended and no process is left.
  // What is asked is whether jobs end, not how long they work: mostly their programs hurry now.
  void liveness(const std::function<bool()>& failed) {
    constexpr double kUnhurried = 0.125;
    constexpr int kHurry = 10;
    if (!rng_.chance(kUnhurried)) {
      for (int i = 0; i < world_.node_count(); ++i) world_.node(i).set_program_speed(kHurry);
    }
    MonoTime deadline = world_.timeline().now() + options_.liveness;
    while (world_.timeline().now() < deadline) {
      world_.timeline().run_until(world_.timeline().now() + 10s, failed);
      if (failed()) return;
      workload_.settle();
      if (all_ended()) {
        world_.timeline().run_until(world_.timeline().now() + 2min, failed);
        if (failed()) return;
        if (!all_ended() || is_writing()) continue;  // a node is validated
        if (has_mass_loss()) continue;               // nodes are rebooted to mend them
        return check_end();
      }
    }
    world_.checkers().fail(all_ended() && has_mass_loss()
                               ? "incident: one is still open though all nodes are back"
                               : "liveness: " + stuck());
  }

  bool has_mass_loss() {
    Controller* leader = world_.leader();
    return leader != nullptr && leader->state().open_incident(kMassLoss) != nullptr;
  }

  // What is being appended is not in the rows yet.
  bool is_writing() {
    Controller* leader = world_.leader();
    return leader != nullptr && leader->state().has_undurable();
  }

  bool all_ended() {
    Controller* leader = world_.leader();
    return leader != nullptr && workload_.all_answered() &&
           std::ranges::all_of(leader->state().jobs(), [](const auto& entry) {
             return entry.second.is_terminal() || entry.second.spec->is_validation;
           });
  }

  void check_end() {
    const auto& rows = world_.database().jobs();
    for (const auto& [id, name] : workload_.acknowledged()) {
      if (world_.database().lost_jobs().contains(JobId{id})) continue;  // not by a server's doing
      auto it = rows.find(JobId{id});
      if (it == rows.end())
        return world_.checkers().fail(fmt::format("durability: acknowledged job {} is gone", id));
      if (!it->second.is_terminal())
        return world_.checkers().fail(fmt::format("liveness: job {} has not ended", id));
    }
    // Idle nodes are validated for ever.
    if (world_.checkers().live_processes() != 0 && !is_validating()) {
      return world_.checkers().fail(fmt::format("single run: {} processes outlive their jobs",
                                                world_.checkers().live_processes()));
    }
    Controller* leader = world_.leader();
    if (leader == nullptr) return;
    world_.checkers().check_live(leader->state(), world_.database());
  }

  bool is_validating() {
    Controller* leader = world_.leader();
    return leader != nullptr && std::ranges::any_of(leader->state().live(), [&](JobId id) {
             return leader->state().find(id)->spec->is_validation;
           });
  }

  std::string stuck() {
    Controller* leader = world_.leader();
    if (leader == nullptr) return "no server leads";
    std::string nodes;
    for (const auto& [id, node] : leader->state().nodes()) {
      if (!node.takes_jobs())
        nodes += fmt::format("; {} is {} ({}) and {}", node.facts.name, to_string(node.liveness),
                             node.liveness_reason, to_string(node.scheduling));
      if (node.liveness != Liveness::suspect) continue;
      const int index = world_.index_of(node.facts.name);
      for (const auto& [key, status] : world_.agent(index).ranks()) {
        nodes += fmt::format("; its agent has {}, phase {}", to_string(key),
                             static_cast<int>(status.phase));
      }
      nodes += fmt::format("; {} processes live on it", world_.node(index).live_processes());
    }
    for (const auto& [id, job] : leader->state().jobs()) {
      if (job.is_terminal()) continue;
      JobView view = view_job(leader->state(), job, leader->soft_facts());
      return fmt::format(
          "job {} is {} (attempt {} {}, priority {}, {} nodes x {} gpus, requeued {}): {}{}",
          id.value, to_string(job.state), view.attempt, view.attempt_state, to_string(job.priority),
          job.spec->node_count, job.spec->gpus_per_node, job.counters.requeue_count,
          view.pending_reason ? view.pending_reason->text : "", nodes);
    }
    return "jobs ended too late";
  }

  const ChaosOptions options_;
  int leaves_ = 0;
  Rng rng_;
  World world_;
  Faults faults_;
  Workload workload_;
  VirtualLoop loop_;
  Triggers triggers_;
  LossWatch losses_;
  const Controller* explained_by_ = nullptr;
  Epoch explained_in_;
  int64_t passes_then_ = 0;
};

}  // namespace

ChaosResult run_world(const WorldPlan& plan, ChaosOptions options) {
  options.plan = &plan;
  return run_chaos(0, options);
}

ChaosResult run_chaos(uint64_t seed, const ChaosOptions& options) {
  return Run(seed, options).run(seed);
}

}  // namespace hai
