#include "server/plan/ledger.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/check.h"
#include "common/count_of.h"
#include "server/plan/order.h"

namespace hai {
namespace {

std::string format_units(int64_t units) {
  const int64_t whole = units / ClusterState::kNodeUnit;
  const int64_t rest = units % ClusterState::kNodeUnit;
  return rest == 0 ? fmt::format("{}", whole)
                   : fmt::format("{:.3g}", static_cast<double>(units) / ClusterState::kNodeUnit);
}

int64_t seconds_of(UnixTime time) { return to_micros(time) / 1'000'000; }

}  // namespace

Room::Room(const ClusterState& state, const User& user, const std::string& group)
    : user_(user.name), group_(group) {
  for (Priority level : kPriorities) {
    nodes_[index(level)] = state.quota_nodes(user, group, level).value_or(0);
  }
  refresh(state);
}

size_t Room::index(Priority level) {
  return static_cast<size_t>(std::ranges::find(kPriorities, level) - std::begin(kPriorities));
}

void Room::refresh(const ClusterState& state) {
  for (Priority level : kPriorities) {
    used_[index(level)] = state.used_node_units(user_, group_, level);
  }
}

bool Room::has_room(Priority level, int64_t units) const {
  const size_t i = index(level);
  if (nodes_[i] >= Quota::kUnlimited) return true;
  return used_[i] + extra_[i] + units <= nodes_[i] * ClusterState::kNodeUnit;
}

std::optional<Priority> Room::level_for(Priority asked, int64_t units) const {
  if (asked != Priority::automatic) {
    return has_room(asked, units) ? std::optional(asked) : std::nullopt;
  }
  for (Priority level : kPriorities) {
    if (level <= kAutoCeiling && has_room(level, units)) return level;
  }
  return std::nullopt;
}

PendingReason Room::reason(Priority asked, int64_t units) const {
  const bool is_auto = asked == Priority::automatic;
  const Priority level = is_auto ? kAutoCeiling : asked;
  const size_t i = index(level);
  return {PendingCode::quota, fmt::format("quota of {} in {}/{}: {}, {} used, {} asked{}", user_,
                                          group_, to_string(level), count_of(nodes_[i], "node"),
                                          format_units(used_[i] + extra_[i]), format_units(units),
                                          is_auto ? "; lower levels are used up too" : "")};
}

void Ledger::rebuild(const ClusterState& state) {
  *this = Ledger();
  for (const auto& [name, user] : state.users()) {
    index_.emplace(name, static_cast<int>(people_.size()));
    people_.push_back({.name = name, .usage = user.usage});
  }
}

int Ledger::find(const std::string& user) const {
  auto it = index_.find(user);
  return it == index_.end() ? -1 : it->second;
}

Room& Ledger::room(const ClusterState& state, int person, const std::string& group) {
  auto it = rooms_.find({person, group});
  if (it != rooms_.end()) return it->second;
  const User& user = *state.find_user(people_[person].name);
  return rooms_.emplace(std::pair(person, group), Room(state, user, group)).first->second;
}

void Ledger::refresh(const ClusterState& state, const std::string& user, const std::string& group) {
  auto it = rooms_.find({find(user), group});
  if (it != rooms_.end()) it->second.refresh(state);
}

void Ledger::refresh(const ClusterState& state) {
  for (auto& [key, room] : rooms_) room.refresh(state);
  for (Person& person : people_) person.usage = state.find_user(person.name)->usage;
}

void Ledger::add_running(int person, int gpus, UnixTime since) {
  people_[person].gpus += gpus;
  people_[person].gpu_starts += gpus * seconds_of(since);
}

void Ledger::remove_running(int person, int gpus, UnixTime since) {
  add_running(person, -gpus, since);
}

void Ledger::begin_pass(const Knobs& knobs, UnixTime now) {
  half_life_ = knobs.usage_half_life;
  now_ = now;
  cache_.assign(people_.size(), -1);
}

void Ledger::end_pass() {
  for (Room* room : std::exchange(used_rooms_, {})) room->forget_pass();
  for (Person& person : people_) person.charged = 0;
}

int64_t Ledger::usage(int person) const {
  const Person& who = people_[person];
  int64_t& value = cache_[person];
  if (value < 0) {
    value = decayed(who.usage, now_, half_life_) + who.flat +
            std::max<int64_t>(0, who.gpus * seconds_of(now_) - who.gpu_starts);
  }
  return value + who.charged;
}

void Ledger::use(Room& room, Priority level, int64_t units) {
  room.use(level, units);
  used_rooms_.push_back(&room);
}

}  // namespace hai
