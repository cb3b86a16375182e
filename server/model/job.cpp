#include "server/model/job.h"

#include <algorithm>

#include "common/whole_number.h"
#include "server/model/job_fields.h"

namespace hai {

int64_t Attempt::ran_seconds() const {
  if (!running_at || !ended_at) return 0;
  const Duration ran = std::max<Duration>(*ended_at - *running_at, Duration(0));
  return std::chrono::duration_cast<std::chrono::seconds>(ran).count();
}

std::optional<ArrayTask> parse_array_task(std::string_view text) {
  const size_t mark = text.find('_');
  if (mark == std::string_view::npos) return std::nullopt;
  const auto array = whole_number<int64_t>(text.substr(0, mark));
  const auto index = whole_number<int>(text.substr(mark + 1));
  if (!array || !index || *array < 1 || *index < 0) return std::nullopt;
  return ArrayTask{JobId{*array}, *index};
}

void ArrayCounts::note_made(const ArrayRange& range, int index) {
  const int position = next();
  ++made;
  if (range.at(position) != index) return add(noted_gaps().made_early, {index, index});
  while (next() < range.count() && is_made_early(range.at(next()))) {
    remove(gaps->made_early, range.at(next()));
  }
}

namespace {

constexpr Duration kFirstRestartAfter = 5s;
constexpr Duration kRestartAfterMax = 5min;
constexpr Duration kLaunchAgainAfter = 5s;

}  // namespace

// Twice as long each time. After a launch that failed it is tried elsewhere at once, and if that
// fails, too, a little later. An attempt that ended otherwise, as by a suspension, starts again at
// once.
std::optional<UnixTime> Job::restarts_at() const {
  const bool has_failed = is_waiting() && attempt && attempt->ended_at && attempt->end &&
                          attempt->state == AttemptState::failed;
  if (!has_failed) return std::nullopt;
  if (attempt->end->infrastructure) {
    return launch_failures > 1 ? std::optional(*attempt->ended_at + kLaunchAgainAfter)
                               : std::nullopt;
  }
  if (failure_restarts == 0) return std::nullopt;
  Duration wait = kFirstRestartAfter;
  for (int i = 1; i < failure_restarts && wait < kRestartAfterMax; ++i) wait *= 2;
  return *attempt->ended_at + std::min(wait, kRestartAfterMax);
}

bool Job::operator==(const Job& other) const { return equal_fields(*this, other); }

}  // namespace hai
