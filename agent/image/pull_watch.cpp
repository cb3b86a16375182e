#include "agent/image/pull_watch.h"

#include <fmt/core.h>

#include <algorithm>

namespace hai {

bool PullWatch::goes_on(MonoTime now) {
  if (began_at_ == MonoTime{}) began_at_ = came_at_ = said_at_ = now;
  const int64_t bytes = measure_();
  if (bytes != bytes_) came_at_ = now;
  bytes_ = bytes;
  if (now - came_at_ >= patience_) return false;
  const Duration pause = std::max<Duration>(kFirstWord, (now - began_at_) / 10);
  if (bytes_ > 0 && now - said_at_ >= pause) {
    said_at_ = now;
    say_(text());
  }
  return true;
}

std::string PullWatch::text() const {
  constexpr double kMega = 1e6;
  constexpr double kGiga = 1e9;
  const bool is_large = std::max(bytes_, bytes_total_) >= static_cast<int64_t>(kGiga);
  const auto shown = [is_large](int64_t bytes) {
    return fmt::format("{:.1f}", static_cast<double>(bytes) / (is_large ? kGiga : kMega));
  };
  const char* unit = is_large ? "GB" : "MB";
  if (bytes_total_ <= 0) return fmt::format("{} {}", shown(bytes_), unit);
  return fmt::format("{} of {} {}", shown(std::min(bytes_, bytes_total_)), shown(bytes_total_),
                     unit);
}

}  // namespace hai
