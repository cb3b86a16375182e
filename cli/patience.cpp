#include "cli/patience.h"

#include <algorithm>
#include <thread>

#include "cli/session.h"

namespace hai::cli {
namespace {

constexpr Duration kFirstPause = 100ms;
constexpr Duration kLongestPause = 2s;
constexpr Duration kPatience = 5min;

}  // namespace

Patience::Patience() : last_heard_(mono_now()), pause_(kFirstPause) {}

void Patience::heard() {
  if (told_) say("the server answers again");
  told_ = false;
  pause_ = kFirstPause;
  last_heard_ = mono_now();
}

bool Patience::retry(const Status& status) {
  // ok: the stream ended early, e.g. because the server is being shut down.
  const bool may_pass = status.is_ok() || status.code() == Code::unavailable ||
                        status.code() == Code::cancelled ||
                        status.code() == Code::resource_exhausted;
  if (!may_pass || mono_now() - last_heard_ > kPatience) return false;
  if (!told_ && !status.is_ok()) {
    say(fmt::format("{}; trying again for {}", status.message(), format_duration(kPatience)));
    told_ = true;
  }
  std::this_thread::sleep_for(pause_);
  pause_ = std::min(pause_ * 3 / 2, kLongestPause);
  return true;
}

}  // namespace hai::cli
