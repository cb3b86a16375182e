#include "cli/server_list.h"

#include <algorithm>

#include "common/check.h"

namespace hai::cli {
namespace {

constexpr Duration kElectionPatience = 10s;  // a standby takes over within 3 s
constexpr Duration kPause = 200ms;           // after all were asked
constexpr Duration kTellAfter = 1s;
constexpr int kHintsMax = 2;  // two servers may for a moment name each other

}  // namespace

ServerList::ServerList(std::vector<std::string> servers) : servers_(std::move(servers)) {
  CHECK(!servers_.empty());
  current_ = servers_.front();
}

// One that was only named by another is followed by the first of the list.
void ServerList::next() {
  const auto found = std::ranges::find(servers_, current_);
  const bool is_last = found == servers_.end() || found + 1 == servers_.end();
  current_ = is_last ? servers_.front() : *(found + 1);
}

void ServerList::move_on(const FailedTry& failed) {
  if (!failed.leader.empty() && failed.leader != current_) {
    current_ = failed.leader;
  } else {
    next();
  }
}

bool ServerList::Search::go_on(const FailedTry& failed, MonoTime now) {
  const bool is_hint = !failed.leader.empty() && failed.leader != list_.current_;
  may_wait_ = may_wait_ || list_.servers_.size() > 1 || is_hint || failed.will_pass ||
              failed.fate_is_unknown;
  if (!may_wait_ || now - began_ > kElectionPatience) return false;
  if (is_hint && hints_ < kHintsMax) {
    ++hints_;
    pause_ = Duration{0};
    list_.current_ = failed.leader;
    return true;
  }
  list_.next();
  pause_ = ++tries_ % list_.servers_.size() == 0 ? kPause : Duration{0};
  if (pause_ > Duration{0}) hints_ = 0;
  return true;
}

bool ServerList::Search::should_tell(MonoTime now) {
  return now - began_ >= kTellAfter && !std::exchange(told_, true);
}

}  // namespace hai::cli
