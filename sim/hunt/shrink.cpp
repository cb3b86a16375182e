#include "sim/hunt/shrink.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace hai {
namespace {

bool has_digit(const std::string& word) {
  return std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

// Which messages of a world were overtaken, and by how many.
class Overtakings {
 public:
  void see(const Moment& moment, const World& world) {
    if (moment.message == nullptr) return;
    auto& sent = sent_[{moment.node, moment.message->order != nullptr}];
    const auto number = static_cast<size_t>(moment.message->number);
    if (!moment.message->arrives) {
      if (number == 1) finish(sent);  // another connection
      sent.push_back({.at = world.timeline().now().time_since_epoch(),
                      .point = moment.point,
                      .node = moment.node});
      return;
    }
    if (number > sent.size() || sent[number - 1].has_arrived) return;
    sent[number - 1].has_arrived = true;
    for (size_t i = number; i < sent.size(); ++i) sent[number - 1].by += sent[i].has_arrived;
  }
  std::vector<PlannedHold> as_holds() {
    for (auto& [direction, sent] : sent_) finish(sent);
    std::ranges::sort(holds_, {}, [](const PlannedHold& hold) { return hold.when.at; });
    return holds_;
  }

 private:
  struct Sent {
    Duration at{0};
    int point = 0;
    int node = 0;
    bool has_arrived = false;
    int by = 0;  // how many that were sent later came first
  };
  void finish(std::vector<Sent>& sent) {
    for (const Sent& message : sent) {
      if (message.by == 0) continue;
      holds_.push_back(
          {{.at = message.at, .point = message.point, .node = message.node}, message.by});
    }
    sent.clear();
  }
  std::map<std::pair<int, bool>, std::vector<Sent>> sent_;
  std::vector<PlannedHold> holds_;
};

class Shrinker {
 public:
  Shrinker(const WorldPlan& world, const std::string& violation, const ShrinkOptions& options)
      : options_(options),
        kind_(kind_of_violation(violation)),
        ends_(std::chrono::steady_clock::now() + options.time) {
    best_.world = world;
    best_.violation = violation;
  }

  Shrunk run() {
    tape_the_noise();
    (void)hold_instead();
    for (bool is_smaller = true; is_smaller && !is_late();) {
      is_smaller = false;
      is_smaller |= calm_wires();
      is_smaller |= fewer_strikes();
      is_smaller |= fewer(&WorldPlan::acts);
      is_smaller |= fewer(&WorldPlan::deeds);
      is_smaller |= fewer(&WorldPlan::holds);
      is_smaller |= fewer(&WorldPlan::tape);
      is_smaller |= fewer_nodes();
      is_smaller |= plainer_knobs();
    }
    best_.is_done = !is_late();
    return std::move(best_);
  }

 private:
  bool is_late() const { return std::chrono::steady_clock::now() >= ends_; }

  // Keeps it if it still breaks the promise.
  bool try_out(WorldPlan world) {
    if (is_late()) return false;
    ++best_.runs;
    const ChaosResult result = run_world(world, options_.chaos);
    if (options_.progress) options_.progress(best_.runs, best_.world);
    if (!result.violation || kind_of_violation(*result.violation) != kind_) return false;
    best_.world = std::move(world);
    best_.violation = *result.violation;
    return true;
  }

  // The same world, with each draw that is not calm on the tape: so they can go one by one.
  void tape_the_noise() {
    if (best_.world.noise == 0) return;
    WorldPlan recorded;
    ChaosOptions chaos = options_.chaos;
    chaos.record = &recorded;
    (void)run_world(best_.world, chaos);
    WorldPlan taped = best_.world;
    taped.tape = std::move(recorded.tape);
    taped.noise = 0;
    taped.drift_ppm_max = taped.launch_failures_ppm = 0;
    (void)try_out(std::move(taped));
  }

  // Calm wires on which those messages alone are held back that others have overtaken: then the
  // order of messages does not hang on the time at which each leaves.
  bool hold_instead() {
    Overtakings overtakings;
    ChaosOptions chaos = options_.chaos;
    chaos.on_moment = [&](const Moment& moment, World& world) { overtakings.see(moment, world); };
    (void)run_world(best_.world, chaos);
    for (const Duration earlier : {Duration(0), Duration(10ms), Duration(200ms), Duration(1s)}) {
      WorldPlan held = best_.world;
      std::erase_if(held.tape, [](const Drawn& drawn) { return drawn.source == Source::delay; });
      for (PlannedHold hold : overtakings.as_holds()) {
        hold.when.at -= earlier;
        held.holds.push_back(hold);
      }
      if (try_out(std::move(held))) return true;
    }
    return false;
  }

  // Delta debugging: leaves out larger parts first, then smaller ones, down to single items.
  template <typename Item>
  bool fewer(std::vector<Item> WorldPlan::*list) {
    bool is_smaller = false;
    size_t size = std::max<size_t>((best_.world.*list).size(), 1);
    for (;; size = (size + 1) / 2) {
      for (size_t start = 0; start < (best_.world.*list).size() && !is_late();) {
        WorldPlan without = best_.world;
        auto& items = without.*list;
        const auto first = items.begin() + static_cast<std::ptrdiff_t>(start);
        const size_t count = std::min(size, items.size() - start);
        items.erase(first, first + static_cast<std::ptrdiff_t>(count));
        if (try_out(std::move(without))) {
          is_smaller = true;
        } else {
          start += size;
        }
      }
      if (size <= 1 || is_late()) return is_smaller;
    }
  }

  bool fewer_strikes() {
    std::set<int> strikes;
    for (const PlannedDeed& planned : best_.world.deeds) strikes.insert(planned.strike);
    bool is_smaller = false;
    for (int strike : strikes) {
      WorldPlan without = best_.world;
      std::erase_if(without.deeds, [&](const auto& deed) { return deed.strike == strike; });
      is_smaller |= try_out(std::move(without));
    }
    return is_smaller;
  }

  // All draws of one source and owner, then of one source.
  bool calm_wires() {
    std::set<std::pair<Source, std::string>> owners;
    std::set<Source> sources;
    for (const Drawn& drawn : best_.world.tape) {
      owners.emplace(drawn.source, drawn.who);
      sources.insert(drawn.source);
    }
    bool is_smaller = false;
    auto calm = [&](auto&& is_one) {
      WorldPlan without = best_.world;
      if (std::erase_if(without.tape, is_one) > 0) is_smaller |= try_out(std::move(without));
    };
    calm([](const Drawn&) { return true; });
    for (Source source : sources) calm([&](const Drawn& drawn) { return drawn.source == source; });
    for (const auto& [source, who] : owners) {
      calm([&](const Drawn& drawn) { return drawn.source == source && drawn.who == who; });
    }
    return is_smaller;
  }

  bool fewer_nodes() {
    bool is_smaller = false;
    while (best_.world.nodes > 1) {
      WorldPlan without = best_.world;
      --without.nodes;
      if (!try_out(std::move(without))) break;
      is_smaller = true;
    }
    return is_smaller;
  }

  bool plainer_knobs() {
    bool is_smaller = false;
    for (const KnobRange& range : knob_ranges()) {
      const std::string plain = get_knob(Knobs{}, range.name);
      if (get_knob(best_.world.knobs, range.name) == plain) continue;
      WorldPlan without = best_.world;
      CHECK(set_knob(without.knobs, range.name, plain).is_ok());
      if (check_knobs(without.knobs).is_ok()) is_smaller |= try_out(std::move(without));
    }
    return is_smaller;
  }

  const ShrinkOptions& options_;
  const std::string kind_;
  const std::chrono::steady_clock::time_point ends_;
  Shrunk best_;
};

}  // namespace

// The first words: names and numbers as #. What is told of a job that never ends differs each time.
std::string kind_of_violation(const std::string& violation) {
  const std::string promise = violation.substr(0, violation.find(':'));
  if (promise == "liveness" || promise == "increment") return promise;
  constexpr int kWords = 7;
  std::string kind;
  std::string word;
  int words = 0;
  for (char c : violation + ' ') {
    if (c != ' ') {
      word += c;
      continue;
    }
    if (++words > kWords) break;
    kind += (kind.empty() ? "" : " ") + (has_digit(word) ? "#" : word);
    word.clear();
  }
  return kind;
}

Shrunk shrink(const WorldPlan& world, const std::string& violation, const ShrinkOptions& options) {
  return Shrinker(world, violation, options).run();
}

}  // namespace hai
