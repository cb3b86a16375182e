#include "server/api/large_specs.h"

#include <algorithm>

namespace hai {

int64_t long_parts_bytes(const JobSpec& spec) {
  size_t bytes = spec.workspace.size() + spec.entrypoint.size() + spec.parameters.size();
  for (const auto& [name, value] : spec.environments) bytes += name.size() + value.size();
  for (const auto& [name, secret] : spec.secrets) bytes += name.size() + secret.size();
  for (const std::string& tag : spec.tags) bytes += tag.size();
  for (const std::string& job : spec.depends_on) bytes += job.size();
  return static_cast<int64_t>(bytes);
}

LargeSpecs::Left LargeSpecs::refilled(Left left, UnixTime now) {
  const Duration passed = std::clamp<Duration>(now - left.at, Duration(0), kRefillTime);
  const double share = static_cast<double>(passed.count()) / Duration(kRefillTime).count();
  left.bytes = std::min(kBytesMax, left.bytes + static_cast<int64_t>(share * kBytesMax));
  left.at = now;
  return left;
}

Status LargeSpecs::take(const std::string& user, int64_t bytes, UnixTime now) {
  const int64_t counted = bytes - kFreeBytes;
  if (counted <= 0) return ok();
  const auto known = people_.find(user);
  Left left = refilled(known == people_.end() ? Left{.at = now} : known->second, now);
  if (left.bytes < counted) {
    const double share = static_cast<double>(counted - left.bytes) / kBytesMax;
    const auto seconds = static_cast<int64_t>(share * 3'600) + 1;
    return resource_exhausted(
        "{} has submitted {} MiB of large job specs within the hour (what environments, parameters "
        "and the like have beyond {} KiB of each job counts); put data into files of the "
        "workspace, or go on in {}",
        user, kBytesMax >> 20, kFreeBytes >> 10, format_duration(seconds * 1s));
  }
  left.bytes -= counted;
  people_[user] = left;
  if (people_.size() > kPeopleMax) {
    std::erase_if(people_,
                  [&](const auto& each) { return refilled(each.second, now).bytes == kBytesMax; });
  }
  return ok();
}

void LargeSpecs::give_back(const std::string& user, int64_t bytes, UnixTime now) {
  const auto known = people_.find(user);
  if (known == people_.end() || bytes <= kFreeBytes) return;
  Left left = refilled(known->second, now);
  left.bytes = std::min(kBytesMax, left.bytes + bytes - kFreeBytes);
  known->second = left;
}

}  // namespace hai
