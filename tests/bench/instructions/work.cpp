// Fixed pieces of work whose instructions the gate counts (gate.py): what surrounds them is set up
// first and does not count, since callgrind collects only inside the functions named measured_*.

#include <fmt/core.h>

#include <cstdlib>
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

namespace hai::bench {
namespace {

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

void submits(int nodes) {
  Timeline timeline;
  VirtualLoop loop(timeline);
  MemDatabase database(loop);
  MemStore store(loop, database, "one");
  NoAgents agents;
  Controller controller(loop, store, agents, nullptr, Knobs{},
                        {.admin_user = "ann", .public_quota_nodes = Quota::kUnlimited}, "gate");
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
  } else {
    fmt::print(stderr, "usage: instructions_work pass|submit [NODES] [QUEUED]\n");
    return 2;
  }
  fmt::print("{}\n", kTimes);
}
