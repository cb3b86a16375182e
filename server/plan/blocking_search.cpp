#include "server/plan/blocking_search.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <tuple>

namespace hai {
namespace {

// What one obstacle costs, so that it can be spread over the nodes it covers.
constexpr int64_t kUnit = 1 << 20;

// Each look whether a set gets smaller at a higher level is a new hypothesis: larger ones stay.
constexpr size_t kRaisedMax = 32;

enum class Measure { per_node, spread };

// A way to free a block of a node.
struct Way {
  int64_t cost = 0;
  std::vector<int> obstacles;
};

class BlockingSearch {
 public:
  explicit BlockingSearch(Hypothesis& hypothesis) : h_(hypothesis) {}

  Blockade run() {
    for (int i = 0; h_.crossing_too_many() > 0 && i < count(); ++i) {
      if (h_.obstacles()[i].crosses_zones) take_away(crossing_, i);
    }
    std::optional<std::vector<int>> best;
    auto consider = [&](std::optional<std::vector<int>> found) {
      if (found && (!best || found->size() < best->size())) best = std::move(found);
    };
    for (const std::vector<int>& slots : slot_sets()) {
      for (Measure measure : {Measure::spread, Measure::per_node}) {
        consider(pruned(greedy(slots, measure)));
      }
    }
    if (!best) consider(pruned(everything()));
    for (int obstacle : crossing_) h_.put_back(obstacle);
    Blockade blockade{.is_hopeless = !best};
    if (!best) return blockade;
    blockade.obstacles = std::move(*best);
    for (int obstacle : crossing_) {
      if (std::ranges::find(blockade.obstacles, obstacle) != blockade.obstacles.end()) {
        blockade.crossing.push_back(obstacle);
      }
    }
    return blockade;
  }

 private:
  int count() const { return static_cast<int>(h_.obstacles().size()); }

  void take_away(std::vector<int>& taken, int obstacle) {
    h_.take_away(obstacle);
    taken.push_back(obstacle);
  }

  // The nodes of each zone, or of all where it crosses.
  std::vector<std::vector<int>> slot_sets() const {
    std::vector<std::vector<int>> sets;
    for (int zone : zones_of(h_.capacity(), h_.demand())) {
      const Domain& part = h_.capacity().domains()[zone];
      if (sets.empty() || !h_.demand().may_cross_zones) sets.emplace_back();
      for (int slot = part.first_slot; slot < part.end_slot; ++slot) sets.back().push_back(slot);
    }
    return sets;
  }

  // The block of the node with least in its way.
  std::optional<Way> way(int index, Measure measure) const {
    const NodeFacts& facts = h_.capacity().slots()[index].node->facts;
    const int gpus_of_node = facts.gpus;
    const int gpus = h_.demand().gpus == 0 ? gpus_of_node : h_.demand().gpus;
    std::optional<Way> best;
    if (!has_host(facts, h_.demand().gpus, h_.demand().ask)) return best;
    if (!h_.demand().size().takes(facts)) return best;
    if (gpus == kNoGpus) return way_of(index, {}, measure);
    if (gpus == 0) return best;
    for (int start = 0; start + gpus <= gpus_of_node; start += gpus) {
      Way mine = way_of(index, {GpuSet::first(gpus).bits << start}, measure);
      if (!best || mine.cost < best->cost) best = std::move(mine);
    }
    return best;
  }

  Way way_of(int index, GpuSet block, Measure measure) const {
    Way mine{.obstacles = h_.in_the_way(index, block)};
    for (int obstacle : h_.in_the_way_of_host(index, block)) {
      if (std::ranges::find(mine.obstacles, obstacle) == mine.obstacles.end()) {
        mine.obstacles.push_back(obstacle);
      }
    }
    for (int obstacle : mine.obstacles) mine.cost += cost(obstacle, measure);
    return mine;
  }

  int64_t cost(int obstacle, Measure measure) const {
    if (measure == Measure::per_node) return kUnit;
    const auto covers = static_cast<int64_t>(h_.obstacles()[obstacle].covers.size());
    return kUnit / std::clamp<int64_t>(covers, 1, h_.demand().nodes);
  }

  // The cheapest node again and again. What is away makes other nodes cheaper: they get fresh
  // entries, the old ones are stale.
  std::vector<int> greedy(const std::vector<int>& slots, Measure measure) {
    struct Entry {
      int64_t cost = 0;
      int slot = 0;
      int version = 0;
      auto operator<=>(const Entry&) const = default;
    };
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    std::map<int, int> versions;
    for (int slot : slots) {
      if (auto found = way(slot, measure)) {
        queue.push({found->cost, slot, 0});
        versions.emplace(slot, 0);
      }
    }
    std::vector<int> taken;
    for (int done = 0; done < h_.demand().nodes && !queue.empty();) {
      const Entry entry = queue.top();
      queue.pop();
      auto version = versions.find(entry.slot);
      if (version == versions.end() || version->second != entry.version) continue;
      versions.erase(version);
      ++done;
      const Way found = *way(entry.slot, measure);
      for (int obstacle : found.obstacles) take_away(taken, obstacle);
      for (int obstacle : found.obstacles) {
        for (const RankPlacement& place : h_.obstacles()[obstacle].covers) {
          const int slot = h_.capacity().index_of(place.node);
          auto other = versions.find(slot);
          if (other == versions.end()) continue;
          queue.push({way(slot, measure)->cost, slot, ++other->second});
        }
      }
    }
    return taken;
  }

  std::vector<int> everything() {
    std::vector<int> taken;
    for (int i = 0; i < count(); ++i) {
      if (!h_.is_away(i)) take_away(taken, i);
    }
    return taken;
  }

  // Without those that could stay, smallest first; puts all of them back.
  std::optional<std::vector<int>> pruned(std::vector<int> taken) {
    std::vector<int> left;
    const bool has_room = h_.has_room();
    if (has_room) {
      std::vector<int> all = taken;
      all.insert(all.end(), crossing_.begin(), crossing_.end());
      std::ranges::stable_sort(
          all, {}, [&](int obstacle) { return h_.obstacles()[obstacle].covers.size(); });
      for (int obstacle : all) {
        h_.put_back(obstacle);
        if (h_.has_room_quick()) continue;
        h_.take_away(obstacle);
        left.push_back(obstacle);
      }
    }
    for (int obstacle : taken) {
      if (h_.is_away(obstacle)) h_.put_back(obstacle);
    }
    for (int obstacle : crossing_) {
      if (!h_.is_away(obstacle)) h_.take_away(obstacle);
    }
    if (!has_room) return std::nullopt;
    std::ranges::sort(left);
    return left;
  }

  Hypothesis& h_;
  std::vector<int> crossing_;
};

}  // namespace

Blockade find_blockade(Hypothesis& hypothesis) {
  if (hypothesis.has_room() || hypothesis.can_make_room()) return {};
  return BlockingSearch(hypothesis).run();
}

void drop_needless_of_auto(const ClusterState& state, const Knobs& knobs, UnixTime now,
                           const Hypothesis& hypothesis, Blockade& blockade) {
  const Job& job = *hypothesis.requester().job;
  const std::vector<Obstacle>& obstacles = hypothesis.obstacles();
  const bool has_own = std::ranges::any_of(blockade.obstacles, [&](int index) {
    const Obstacle& obstacle = obstacles[index];
    return obstacle.job && state.find(obstacle.job)->user == job.user;
  });
  if (job.priority != Priority::automatic || !has_own) return;
  if (blockade.obstacles.size() > kRaisedMax) return;
  for (size_t i = 0; i < blockade.obstacles.size();) {
    std::vector<int> others = blockade.obstacles;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    std::vector<JobId> gone;
    std::set<std::tuple<Obstacle::Kind, JobId, NodeId>> away;
    for (int index : others) {
      const Obstacle& obstacle = obstacles[index];
      if (obstacle.job) gone.push_back(obstacle.job);
      away.emplace(obstacle.kind, obstacle.job, obstacle.node);
    }
    Hypothesis raised(state, knobs, now, job, gone);
    for (int index = 0; index < static_cast<int>(raised.obstacles().size()); ++index) {
      const Obstacle& obstacle = raised.obstacles()[index];
      if (away.contains({obstacle.kind, obstacle.job, obstacle.node})) raised.take_away(index);
    }
    if (raised.has_room()) {
      std::erase(blockade.crossing, blockade.obstacles[i]);
      blockade.obstacles = std::move(others);
    } else {
      ++i;
    }
  }
}

}  // namespace hai
