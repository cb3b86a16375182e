// Property: whatever EASY starts, the oldest waiting job that did not fit can start no later than
// without those starts.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/rng.h"
#include "sim/baselines/easy.h"
#include "sim/baselines/node_pool.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

struct Ending {
  UnixTime at{};
  Placement placement;
};

// When a job of this shape fits, if the others end as given.
UnixTime fits_at(const Cluster& c, const JobSpec& spec, std::vector<Ending> endings) {
  std::map<NodeId, GpuSet> free;
  for (const auto& [id, node] : c.state().nodes()) free[id] = node.all_gpus();
  for (const Ending& ending : endings) {
    for (const RankPlacement& place : ending.placement)
      free[place.node] = without(free[place.node], place.gpus);
  }
  auto fits = [&] {
    int nodes = 0;
    for (const auto& [id, gpus] : free) {
      nodes += spec.gpus_per_node == 0 ? gpus == GpuSet::first(8)
                                       : !NodePool::block(gpus, spec.gpus_per_node).is_empty();
    }
    return nodes >= spec.node_count;
  };
  std::ranges::sort(endings, {}, &Ending::at);
  UnixTime now = c.now;
  for (const Ending& ending : endings) {
    if (fits()) return now;
    now = ending.at;
    for (const RankPlacement& place : ending.placement)
      free[place.node] = free[place.node] | place.gpus;
  }
  return fits() ? now : UnixTime::max();
}

class EasyHead : public ::testing::TestWithParam<uint64_t> {};

TEST_P(EasyHead, IsNeverDelayed) {
  Rng rng(GetParam());
  const int node_count = static_cast<int>(rng.between(2, 8));
  Cluster c = cluster(nodes(node_count, gpus(8)));
  std::map<std::string, Duration> times;
  auto random_job = [&](const std::string& name) {
    times[name] = std::chrono::minutes(rng.between(1, 60));
    bool is_share = rng.chance(0.5);
    return is_share ? job(name).gpus(1 << rng.below(3))
                    : job(name).nodes(static_cast<int>(rng.between(1, node_count)));
  };
  std::vector<Ending> running;
  for (int node = 1; node <= node_count; ++node) {
    if (rng.chance(0.3)) continue;
    std::string name = fmt::format("r{}", node);
    bool is_share = rng.chance(0.5);
    times[name] = std::chrono::minutes(rng.between(1, 60));
    GpuSet gpus = is_share ? GpuSet{0x0f} : GpuSet{};
    std::string where = fmt::format("node-{}", node);
    JobId id = c.run(is_share ? job(name).gpus(4) : job(name), {where}, gpus);
    running.push_back({c.now + times[name], {c.attempt(id).ranks[0].place}});
  }
  for (int i = 0; i < 12; ++i) c.submit(random_job(fmt::format("w{}", i)));

  auto planner = make_easy_planner([&](const Job& job) { return times.at(job.spec->name); });
  planner->update(c.state(), {.everything = true});
  Plan plan = planner->pass(c.state(), c.knobs, c.now);

  // Those before the head started by their place in the queue, those after it by backfill.
  std::set<JobId> started;
  for (const StartItem& item : plan.starts) started.insert(item.job);
  JobId head{};
  for (const auto& [key, id] : c.state().waiting()) {
    if (!started.contains(id)) {
      head = id;
      break;
    }
  }
  if (!head) return;
  std::vector<Ending> without_backfill = running;
  std::vector<Ending> with_backfill = running;
  for (const StartItem& item : plan.starts) {
    Ending ending{c.now + times.at(c.job(item.job).spec->name), item.placement};
    if (item.job < head) without_backfill.push_back(ending);
    with_backfill.push_back(ending);
  }
  EXPECT_LE(fits_at(c, *c.job(head).spec, with_backfill),
            fits_at(c, *c.job(head).spec, without_backfill));
}

INSTANTIATE_TEST_SUITE_P(Seeds, EasyHead, ::testing::Range(uint64_t{1}, uint64_t{301}));

}  // namespace
}  // namespace hai::test
