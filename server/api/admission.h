#pragma once
// How many calls of people and tools may be under way at once, by gRPC and REST together: beyond it
// a call is refused before anything is done for it, on its own thread, so that a flood costs the
// loop nothing and a call that was let in is answered soon. One person has as many places at most
// as are free, so that others are let in, whoever floods: dynamic thresholds (Choudhury and Hahne,
// IEEE/ACM Transactions on Networking, 1998). Agents' streams do not come by here. Any thread.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace hai {

// Whether `weight` more are within somebody's share of `max` places, of which he has `own` now, and
// everybody together `all`.
inline bool is_within_share(int64_t own, int64_t all, int64_t weight, int64_t max) {
  return own + weight <= max - all;
}

class Admitted;

class Admission {
 public:
  // Of one person alone half of these: about a second's worth of submits. Calls that only look get
  // some more, so that one can still see what goes on.
  static constexpr int64_t kSubmitsMax = 20'000;
  static constexpr int64_t kAllMax = 24'000;
  static constexpr int64_t kWeightBytes = 16 << 10;
  static constexpr int kRetryAfterMs = 1'000;  // what a refused caller is told

  enum class Kind { submit, other };

  // How many places a call takes: a batch as many as its jobs, a long message more.
  static int64_t weight(int64_t jobs, size_t bytes) {
    return std::max<int64_t>(jobs, 1) + static_cast<int64_t>(bytes) / kWeightBytes;
  }

  // Null: refused. `user`: whose call it is; "" = all whom nobody knows.
  std::shared_ptr<Admitted> enter(Kind kind, const std::string& user, int64_t weight);

  // What a refused caller is told.
  std::string refusal(const std::string& user) const {
    const std::lock_guard lock(inside_->mutex);
    const auto own = inside_->of.find(user);
    return "the server is busy: " + std::to_string(inside_->all) +
           " requests are under way already, " +
           std::to_string(own == inside_->of.end() ? 0 : own->second) +
           " of them yours; nothing was done; retry in a second";
  }
  int64_t under_way() const {
    const std::lock_guard lock(inside_->mutex);
    return inside_->all;
  }
  int64_t refused() const {
    const std::lock_guard lock(inside_->mutex);
    return inside_->refused;
  }

 private:
  friend class Admitted;
  struct Inside {
    std::mutex mutex;
    int64_t all = 0;
    int64_t refused = 0;
    std::unordered_map<std::string, int64_t> of;  // by user; only those who have some
  };
  const std::shared_ptr<Inside> inside_ = std::make_shared<Inside>();
};

// What was let in, until it is released or forgotten: an answer may never be asked for again. May
// outlive the Admission, as what waits on the loop of a server that has stopped does.
class Admitted {
 public:
  Admitted(std::shared_ptr<Admission::Inside> inside, std::string user, int64_t weight)
      : inside_(std::move(inside)), user_(std::move(user)), weight_(weight) {}
  ~Admitted() { release(); }
  Admitted(const Admitted&) = delete;
  Admitted& operator=(const Admitted&) = delete;

  // Any thread, also more than once.
  void release() {
    const std::lock_guard lock(inside_->mutex);
    const int64_t weight = std::exchange(weight_, 0);
    inside_->all -= weight;
    const auto own = inside_->of.find(user_);
    if (own != inside_->of.end() && (own->second -= weight) == 0) inside_->of.erase(own);
  }

 private:
  const std::shared_ptr<Admission::Inside> inside_;
  const std::string user_;
  int64_t weight_;
};

inline std::shared_ptr<Admitted> Admission::enter(Kind kind, const std::string& user,
                                                  int64_t weight) {
  const int64_t max = kind == Kind::submit ? kSubmitsMax : kAllMax;
  const std::lock_guard lock(inside_->mutex);
  const auto found = inside_->of.find(user);
  const int64_t own = found == inside_->of.end() ? 0 : found->second;
  // Who has none may have what is left, and one that is alone may be larger than all that may wait.
  const bool fits = own == 0 ? inside_->all == 0 || inside_->all + weight <= max
                             : is_within_share(own, inside_->all, weight, max);
  if (!fits) {
    ++inside_->refused;
    return nullptr;
  }
  inside_->all += weight;
  inside_->of[user] += weight;
  return std::make_shared<Admitted>(inside_, user, weight);
}

}  // namespace hai
