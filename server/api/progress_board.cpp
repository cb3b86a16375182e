#include "server/api/progress_board.h"

namespace hai {

void ProgressBoard::note(UnixTime now, const std::map<JobId, int64_t>& steps) {
  for (const auto& [job, step] : steps) {
    const auto [it, is_new] = jobs_.try_emplace(job);
    if (is_new) order_.push_back(job);
    Line& line = it->second;
    if (!line.points.empty() && line.points.back().step == step) continue;
    add(line, {now, step});
  }
  while (jobs_.size() > kJobsMax) {
    jobs_.erase(order_.front());
    order_.pop_front();
  }
}

// The last point moves on until enough steps were noted for another one.
void ProgressBoard::add(Line& line, ProgressPoint point) {
  if (line.points.size() > 1 && ++line.skipped < line.every) {
    line.points.back() = point;
    return;
  }
  line.skipped = 0;
  line.points.push_back(point);
  if (line.points.size() <= kPointsMax) return;
  std::vector<ProgressPoint> half;
  for (size_t i = 0; i < line.points.size(); i += 2) half.push_back(line.points[i]);
  if (half.back() != line.points.back()) half.push_back(line.points.back());
  line.points = std::move(half);
  line.every *= 2;
}

std::vector<ProgressPoint> ProgressBoard::points(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? std::vector<ProgressPoint>{} : found->second.points;
}

}  // namespace hai
