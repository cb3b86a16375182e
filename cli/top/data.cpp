#include "cli/top/data.h"

#include <set>

namespace hai::cli::top {
namespace {

constexpr Duration kEndedShown = 60s;

}  // namespace

void Data::apply(News news) {
  if (news.cluster) cluster = *std::move(news.cluster);
  if (news.trouble) trouble = *std::move(news.trouble);
  if (news.has_all_jobs) {
    std::set<int64_t> known;
    for (const v1::Job& job : news.jobs) known.insert(job.id());
    std::erase_if(jobs, [&](const auto& entry) {
      return !has_ended(entry.second) && !known.contains(entry.first);
    });
  }
  for (v1::Job& job : news.jobs) jobs[job.id()] = std::move(job);
  if (news.has_all_nodes) nodes.clear();
  for (v1::Node& node : news.nodes) nodes[node.name()] = std::move(node);
}

void Data::forget_ended(UnixTime now) {
  std::erase_if(jobs, [&](const auto& entry) {
    const v1::Job& job = entry.second;
    return has_ended(job) && now - unix_micros(job.ended_at_us()) > kEndedShown;
  });
}

bool has_ended(const v1::Job& job) {
  return job.state() == "succeeded" || job.state() == "failed" || job.state() == "stopped";
}

int64_t time_of_state(const v1::Job& job) {
  if (has_ended(job)) return job.ended_at_us();
  return job.has_started_at_us() ? job.started_at_us() : job.submitted_at_us();
}

}  // namespace hai::cli::top
