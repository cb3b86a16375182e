#include "server/api/byte_share.h"

#include <algorithm>

namespace hai {

ByteShare::Left ByteShare::refilled(Left left, UnixTime now) const {
  const Duration passed = std::clamp<Duration>(now - left.at, Duration(0), refill_time_);
  const double share = static_cast<double>(passed.count()) / refill_time_.count();
  left.bytes = std::min(bytes_max_, left.bytes + static_cast<int64_t>(share * bytes_max_));
  left.at = now;
  return left;
}

ByteShare::Left ByteShare::left_of(const std::string& user, UnixTime now) const {
  const auto known = people_.find(user);
  return known == people_.end() ? Left{bytes_max_, now} : refilled(known->second, now);
}

std::optional<Duration> ByteShare::take(const std::string& user, int64_t bytes, UnixTime now) {
  Left left = left_of(user, now);
  if (left.bytes < bytes) {
    const double share = static_cast<double>(bytes - left.bytes) / bytes_max_;
    const auto seconds = static_cast<int64_t>(share * static_cast<double>(refill_time_ / 1s)) + 1;
    return seconds * 1s;
  }
  left.bytes -= bytes;
  people_[user] = left;
  if (people_.size() > kPeopleMax) {
    std::erase_if(people_,
                  [&](const auto& each) { return refilled(each.second, now).bytes == bytes_max_; });
  }
  return std::nullopt;
}

void ByteShare::give_back(const std::string& user, int64_t bytes, UnixTime now) {
  Left left = left_of(user, now);
  left.bytes = std::min(bytes_max_, left.bytes + bytes);
  people_[user] = left;
}

}  // namespace hai
