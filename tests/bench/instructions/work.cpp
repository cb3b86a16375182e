// Fixed pieces of work whose instructions the gate counts (gate.py): what surrounds them is set up
// first and does not count, since callgrind collects only inside the functions named measured_*.

#include <fmt/core.h>

#include <cstdlib>
#include <span>
#include <string_view>

#include "common/spec/check_job_spec.h"
#include "hai/v1/api.pb.h"
#include "proto/convert/spec_convert.h"
#include "server/control/engine/controller.h"
#include "server/store/mem_store.h"
#include "sim/virtual_loop.h"
#include "tests/bench/plan_world.h"

namespace {

constexpr int kTimes = 100;

// A regression on purpose, to see that the gate sees it: so many turns of a loop in each piece.
void waste() {
  static const char* const given = std::getenv("HAI_PLANTED_LOOPS");
  static const int64_t loops = given == nullptr ? 0 : std::atoll(given);
  for (int64_t i = 0; i < loops; ++i) asm volatile("" ::"r"(i));  // not optimised away
}

}  // namespace

// One planning pass after one change.
extern "C" __attribute__((noinline)) void measured_pass(hai::bench::PlanWorld& world) {
  world.pass(false);
  waste();
}

// A submit from the wire to its answer; the store is in memory.
extern "C" __attribute__((noinline)) void measured_submit(hai::Controller& controller,
                                                          hai::Timeline& timeline,
                                                          const hai::v1::SubmitJobRequest& request,
                                                          bool& is_done) {
  hai::Result<hai::JobSpec> spec = hai::from_proto(request.spec());
  if (!hai::to_status(hai::check_job_spec(spec.value())).is_ok()) std::abort();
  controller.submit({.trusted_user = "ann"},
                    hai::SubmitJob{std::move(spec).value(), request.request_id()},
                    [&is_done](const hai::Result<hai::CommandReply>& reply) {
                      if (!reply.is_ok()) std::abort();
                      is_done = true;
                    });
  timeline.run_until(timeline.now() + hai::Duration(10'000), [&] { return is_done; });
  waste();
}

static void say_all(hai::Controller& controller, hai::Timeline& timeline,
                    std::span<hai::AgentReport> reports) {
  for (hai::AgentReport& report : reports) {
    ++report.sequence;
    controller.agent_report(hai::ConnectionId{report.ranks.front().key.rank + 1}, report);
  }
  timeline.run_until(timeline.now() + hai::Duration(100'000));
}

// All ranks of a job run, and end well.
extern "C" __attribute__((noinline)) void measured_gang(hai::Controller& controller,
                                                        hai::Timeline& timeline,
                                                        std::span<hai::AgentReport> reports) {
  say_all(controller, timeline, reports);
  for (hai::AgentReport& report : reports) {
    report.ranks.front().phase = hai::RankPhase::exited;
    report.ranks.front().cause = hai::ExitCause::program;
  }
  say_all(controller, timeline, reports);
  waste();
}

namespace hai::bench {
namespace {

constexpr int kWholeGangs = 2;

void passes(WorldSize size) {
  PlanWorld world(size);
  world.pass(true);
  world.settle(true, 50);
  for (int i = 0; i < kTimes; ++i) {
    world.advance(5ms);
    i % 2 == 0 ? static_cast<void>(world.submit()) : static_cast<void>(world.end_one());
    measured_pass(world);
    world.settle(false, 20);
  }
}

class NoAgents final : public AgentPort {
  void send(ConnectionId, const AgentOrder&) override {}
  void close(ConnectionId, const std::string&) override {}
};

v1::SubmitJobRequest request_number(int number) {
  JobSpec spec{.name = fmt::format("job-{}", number), .workspace = "/data/ann"};
  spec.priority = Priority::normal;
  spec.entrypoint = "train.py";
  spec.parameters = "--config 7b.yaml";
  spec.environments = {{"NCCL_DEBUG", "WARN"}};
  spec.node_count = 4;
  v1::SubmitJobRequest request;
  *request.mutable_spec() = to_proto(spec);
  request.set_request_id(fmt::format("request-{}", number));
  return request;
}

struct Leader {
  explicit Leader(int nodes) {
    controller.start();
    timeline.run_until(timeline.now() + 1s);
    for (int node = 1; node <= nodes; ++node) {
      controller.agent_connected(ConnectionId{node}, fmt::format("node-{}", node));
      AgentReport report{.node = fmt::format("node-{}", node), .sequence = 1};
      report.facts = NodeFacts{.name = report.node, .group = "training", .zone = "A", .leaf = "l"};
      report.facts->gpus = 8;
      controller.agent_report(ConnectionId{node}, report);
    }
    timeline.run_until(timeline.now() + 1s);
  }

  Timeline timeline;
  VirtualLoop loop{timeline};
  MemDatabase database{loop};
  MemStore store{loop, database, "one"};
  NoAgents agents;
  Controller controller{loop,    store,
                        agents,  nullptr,
                        Knobs{}, {.admin_user = "ann", .public_quota_nodes = Quota::kUnlimited},
                        "gate"};
};

// Jobs on all nodes, whose ranks run and end well, one after the other.
void gangs(int nodes) {
  Leader leader(nodes);
  for (int i = 1; i <= kWholeGangs; ++i) {
    JobSpec spec = from_proto(request_number(i).spec()).value();
    spec.node_count = nodes;
    leader.controller.submit({.trusted_user = "ann"}, SubmitJob{spec, fmt::format("gang-{}", i)},
                             [](const Result<CommandReply>&) {});
    leader.timeline.run_until(leader.timeline.now() + 2s);
    const Job& job = *leader.controller.state().find(JobId{i});
    std::vector<AgentReport> reports;
    for (int rank = 0; rank < nodes; ++rank) {
      const NodeId node = job.attempt->ranks[static_cast<size_t>(rank)].place.node;
      AgentReport report{.node = leader.controller.state().find(node)->facts.name,
                         .sequence = 2 * i};
      report.ranks.push_back({.key = {job.id, 1, rank}, .phase = RankPhase::running});
      reports.push_back(std::move(report));
    }
    measured_gang(leader.controller, leader.timeline, reports);
    if (job.state != JobState::succeeded) std::abort();
  }
}

void submits(int nodes) {
  Leader leader(nodes);
  Controller& controller = leader.controller;
  Timeline& timeline = leader.timeline;
  for (int i = 0; i < 1'000 + kTimes; ++i) {
    const v1::SubmitJobRequest request = request_number(i);
    bool is_done = false;
    if (i >= 1'000) {
      measured_submit(controller, timeline, request, is_done);
    } else {
      controller.submit({.trusted_user = "ann"},
                        SubmitJob{from_proto(request.spec()).value(), request.request_id()},
                        [&is_done](const Result<CommandReply>&) { is_done = true; });
      timeline.run_until(timeline.now() + 10ms, [&] { return is_done; });
    }
    if (!is_done) std::abort();
  }
}

}  // namespace
}  // namespace hai::bench

int main(int argc, char** argv) {
  const std::string_view what = argc >= 2 ? argv[1] : "";
  const int nodes = argc >= 3 ? std::atoi(argv[2]) : 250;
  const int queued = argc >= 4 ? std::atoi(argv[3]) : 5'000;
  if (what == "pass" && nodes > 0 && queued > 0) {
    hai::bench::passes({.nodes = nodes, .queued = queued});
  } else if (what == "submit" && nodes > 0) {
    hai::bench::submits(nodes);
  } else if (what == "gang" && nodes > 0) {
    hai::bench::gangs(nodes);
  } else {
    fmt::print(stderr, "usage: instructions_work pass|submit|gang [NODES] [QUEUED]\n");
    return 2;
  }
  fmt::print("{}\n", what == "gang" ? hai::bench::kWholeGangs : kTimes);
}
