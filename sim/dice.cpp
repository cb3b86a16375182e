#include "sim/dice.h"

#include <array>

#include "common/check.h"

namespace hai {
namespace {

constexpr std::array<std::string_view, kSources> kSourceNames = {
    "lost",    "doubled", "delay",       "dial",        "clock",       "launch_fails", "launch",
    "program", "hook",    "store_takes", "store_there", "store_fault", "store_lands"};

// FNV-1a, so that each source and owner has its own generator.
uint64_t seed_of(uint64_t noise, Source source, std::string_view who) {
  uint64_t hash = (noise ^ static_cast<uint64_t>(source)) * 0x100000001b3u;
  for (char c : who) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

std::string_view to_string(Source source) { return kSourceNames[static_cast<size_t>(source)]; }

void Dice::play(const std::vector<Drawn>& tape, uint64_t noise) {
  is_taped_ = true;
  noise_ = noise;
  for (const Drawn& drawn : tape) owners_[{drawn.source, drawn.who}].tape.push_back(drawn);
}

bool Dice::from_tape(Owner& owner, Duration at, int64_t& value) {
  std::deque<Drawn>& tape = owner.tape;
  while (!tape.empty() && tape.front().at < at - kLate) tape.pop_front();
  if (tape.empty() || tape.front().at > at) return false;
  if (tape.front().at == at && tape.front().nth > owner.nth) return false;
  value = tape.front().value;
  tape.pop_front();
  return true;
}

int64_t Dice::draw_slowly(Source source, std::string_view who, int64_t calm,
                          const std::function<int64_t(Rng*)>& from) {
  CHECK(now != nullptr);
  Owner& owner = owners_[{source, std::string(who)}];
  const Duration at = now->time_since_epoch();
  owner.nth = owner.last == at ? owner.nth + 1 : 0;
  owner.last = at;
  int64_t value = calm;
  if (!is_taped_) {
    value = from(nullptr);
  } else if (!from_tape(owner, at, value) && noise_ != 0) {
    if (!owner.has_noise) owner.noise = Rng(seed_of(noise_, source, who));
    owner.has_noise = true;
    value = from(&owner.noise);
  }
  if (drawn_ != nullptr && value != calm)
    drawn_->push_back({source, std::string(who), at, owner.nth, value});
  return value;
}

}  // namespace hai
