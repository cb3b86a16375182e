#pragma once
// In which order the work of several people is done, so that who asks for much waits behind himself
// and not in front of others. Start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996): next
// is the work of the person who has had least, and who was away is not given what he did not use.
// What work costs is told when it is done. For one worker. Not thread-safe.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/time.h"

namespace hai {

template <typename Work>
class FairOrder {
 public:
  // One person's work is done in the order in which it came.
  void push(const std::string& person, Work work) {
    forget_those_who_left();
    const auto entry = people_.try_emplace(person).first;
    Person& who = entry->second;
    who.waiting.push_back(std::move(work));
    ++size_;
    if (!who.is_lined_up && &*entry != served_) line_up(*entry);
  }

  // The next work, whose cost charge() must be told before the next one is asked for; none = nobody
  // waits.
  std::optional<Work> pop() {
    if (line_.empty()) return std::nullopt;
    served_ = std::get<Entry*>(*line_.begin());
    line_.erase(line_.begin());
    Person& who = served_->second;
    who.is_lined_up = false;
    now_ = who.begin;
    std::optional<Work> work(std::move(who.waiting.front()));
    who.waiting.pop_front();
    --size_;
    return work;
  }

  // What the work that pop() gave last has cost.
  void charge(Duration cost) {
    Entry* entry = std::exchange(served_, nullptr);
    if (entry == nullptr) return;
    entry->second.begin += std::max(cost, Duration{1});
    if (!entry->second.waiting.empty()) line_up(*entry);
    if (!line_.empty()) return;
    people_.clear();  // Nobody waits: nobody is behind others.
    now_ = {};
  }

  size_t size() const { return size_; }             // what waits
  size_t people() const { return people_.size(); }  // who waits, or may yet be behind others
  size_t waiting_of(const std::string& person) const {
    const auto found = people_.find(person);
    return found == people_.end() ? 0 : found->second.waiting.size();
  }

 private:
  static constexpr size_t kPeopleFew = 1'000;

  struct Person {
    std::deque<Work> waiting;
    Duration begin{};  // when his next work begins, by the clock of work that was done for each
    bool is_lined_up = false;
  };
  using Entry = std::pair<const std::string, Person>;

  void line_up(Entry& entry) {
    entry.second.begin = std::max(entry.second.begin, now_);
    entry.second.is_lined_up = true;
    line_.emplace(entry.second.begin, ++arrivals_, &entry);
  }

  // Who waits for nothing and is not behind others would be in the same place if he were new.
  void forget_those_who_left() {
    if (people_.size() < look_at_) return;
    std::erase_if(people_, [this](const Entry& entry) {
      return entry.second.waiting.empty() && &entry != served_ && entry.second.begin <= now_;
    });
    look_at_ = std::max(kPeopleFew, 2 * people_.size());
  }

  std::unordered_map<std::string, Person> people_;
  size_t look_at_ = kPeopleFew;  // how many people there are when it is looked who has left
  std::set<std::tuple<Duration, uint64_t, Entry*>> line_;  // those whose work waits
  Entry* served_ = nullptr;
  Duration now_{};
  uint64_t arrivals_ = 0;
  size_t size_ = 0;
};

}  // namespace hai
