#include "server/api/sights.h"

#include <map>
#include <unordered_map>

#include "server/api/event_feed.h"

namespace hai {

class Sights::Groups {
 public:
  bool is_told() const { return is_told_; }

  void load(const ClusterState& state) {
    *this = {};
    is_told_ = true;
    for (const auto& [name, user] : state.users()) set(name, user.groups);
  }
  void follow(const std::vector<Event>& durable, const ClusterState& state) {
    for (const Event& event : durable) {
      // The state has all of these events.
      if (std::holds_alternative<EpochStarted>(event.body)) return load(state);
      if (!is_told_) continue;
      if (const auto* user = std::get_if<UserSet>(&event.body)) {
        set(user->user.name, user->user.groups);
      } else if (const auto* removed = std::get_if<UserRemoved>(&event.body)) {
        set(removed->user, {});
      }
    }
  }

  Team team_of(const std::string& user) const {
    Team team;
    const auto found = of_user_.find(user);
    if (found == of_user_.end()) return team;
    for (const std::string& name : found->second) {
      const Group& group = groups_.at(name);
      if (group.names.size() < 2) continue;  // he alone
      if (group.shown == nullptr) group.shown = std::make_shared<const Team::Names>(group.names);
      team.add(group.shown);
    }
    return team;
  }

 private:
  struct Group {
    Team::Names names;
    mutable std::shared_ptr<const Team::Names> shown;  // as sights have it; null = it has changed
  };

  void set(const std::string& user, const std::vector<std::string>& groups) {
    const auto found = of_user_.find(user);
    if (found != of_user_.end()) {
      if (found->second == groups) return;
      for (const std::string& name : found->second) {
        const auto group = groups_.find(name);
        if (group == groups_.end()) continue;  // named twice
        group->second.names.erase(user);
        group->second.shown.reset();
        if (group->second.names.empty()) groups_.erase(group);
      }
      of_user_.erase(found);
    }
    if (groups.empty()) return;
    for (const std::string& name : groups) {
      Group& group = groups_[name];
      group.names.insert(user);
      group.shown.reset();
    }
    of_user_[user] = groups;
  }

  bool is_told_ = false;
  std::unordered_map<std::string, std::vector<std::string>> of_user_;
  std::unordered_map<std::string, Group> groups_;
};

Sights::Sights(Visibility visibility)
    : visibility_(std::make_shared<Visibility>(visibility)), groups_(std::make_shared<Groups>()) {}

void Sights::follow(EventFeed& feed) {
  feed.add_observer(
      [groups = groups_](const std::vector<Event>& durable, const ClusterState& state) {
        groups->follow(durable, state);
      });
}

Sight Sights::of(const ClusterState& state, const Actor& actor) const {
  if (actor.is_operator()) return {};
  const Visibility visibility = *visibility_;
  const Seen of_others = visibility == Visibility::open ? Seen::program
                         : hides_jobs(visibility)       ? Seen::nothing
                                                        : Seen::row;
  Sight sight{.of_others = of_others, .self = actor.user};
  if (visibility == Visibility::own) return sight;
  if (groups_->is_told()) {
    sight.team = groups_->team_of(actor.user);
  } else {
    Groups now;
    now.load(state);
    sight.team = now.team_of(actor.user);
  }
  return sight;
}

}  // namespace hai
