#pragma once
// Every draw of the simulated wires, machines, store and programs goes through here, so that a
// world can be told exactly and changed in one place (sim/world_plan.h). By itself a Dice draws
// from the generator of whoever asks. With a tape, a draw comes from the tape; what that does not
// name comes from a generator of that source alone, or, without noise, is calm: nothing is lost and
// nothing takes long. So a change at one node does not move the draws of the others.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "common/time.h"

namespace hai {

// What is drawn, one kind of it. Times are microseconds, chances 0 or 1.
enum class Source {
  lost,          // a message, on the wire
  doubled,       // its second copy: when it arrives, 0 = there is none
  delay,         // when it arrives
  dial,          // how long before a broken or refused stream is dialled again
  clock,         // of a machine: skew, then drift
  launch_fails,  // a rank
  launch,        // until its program runs
  program,       // what a node does with a rank otherwise: validation, grace, kill
  hook,          // a command of the site
  store_takes,   // a request, there and back
  store_there,   // until it is done
  store_fault,   // 0 none, 1 before it is done, 2 after
  store_lands,   // the write under way when its server dies
};
std::string_view to_string(Source source);
constexpr int kSources = static_cast<int>(Source::store_lands) + 1;

// One draw that is not calm. `nth`: of the draws of that source and owner at that moment, from 0.
struct Drawn {
  Source source = Source::lost;
  std::string who;  // the node or server; "" = the store
  Duration at{0};   // virtual time
  int nth = 0;
  int64_t value = 0;
  bool operator==(const Drawn&) const = default;
};

class Dice {
 public:
  // Draws by `from(generator)`; `own` is the asker's. `calm` is what an uneventful world gives.
  template <typename From>
  int64_t draw(Source source, std::string_view who, int64_t calm, Rng& own, From&& from) {
    if (!is_taped_ && drawn_ == nullptr) return from(own);
    return draw_slowly(source, who, calm, [&](Rng* rng) { return from(rng ? *rng : own); });
  }
  int64_t between(Source source, std::string_view who, int64_t low, int64_t high, Rng& own) {
    return draw(source, who, low, own, [&](Rng& rng) { return rng.between(low, high); });
  }
  bool chance(Source source, std::string_view who, double probability, Rng& own) {
    return draw(source, who, probability >= 0.5, own,
                [&](Rng& rng) -> int64_t { return rng.chance(probability); }) != 0;
  }

  // From now on draws come from the tape, in order of time; noise 0 = what is missing is calm.
  void play(const std::vector<Drawn>& tape, uint64_t noise);
  // From now on what is not calm is appended to `drawn`, which outlives this; null = no more.
  void record(std::vector<Drawn>* drawn) { drawn_ = drawn; }
  bool is_taped() const { return is_taped_; }
  // Of the timeline: set by the world.
  const MonoTime* now = nullptr;

 private:
  // A draw that comes as much later than the tape says still gets the tape's value.
  static constexpr Duration kLate = 2s;
  using Key = std::pair<Source, std::string>;
  struct Owner {
    std::deque<Drawn> tape;
    Rng noise{0};
    bool has_noise = false;
    Duration last{-1};
    int nth = 0;  // of the draws at `last`
  };
  int64_t draw_slowly(Source source, std::string_view who, int64_t calm,
                      const std::function<int64_t(Rng*)>& from);
  bool from_tape(Owner& owner, Duration at, int64_t& value);

  bool is_taped_ = false;
  uint64_t noise_ = 0;
  std::vector<Drawn>* drawn_ = nullptr;
  std::map<Key, Owner> owners_;
};

}  // namespace hai
