// A user's own order: his waiting jobs of one node group trade their custom ranks among themselves,
// so that nobody else's place changes. Level, feedback class and quota still come first.

#include <algorithm>

#include "server/control/verbs/decide.h"

namespace hai {
namespace {

// In the order they have now.
std::vector<const Job*> waiting_jobs(const ClusterState& state, const std::string& user,
                                     const std::string& group) {
  std::vector<const Job*> jobs;
  for (const auto& [order, id] : state.waiting()) {
    const Job& job = *state.find(id);
    if (job.user == user && job.spec->group == group) jobs.push_back(&job);
  }
  std::ranges::sort(jobs, {}, [](const Job* job) { return std::pair(job->custom_rank, job->id); });
  return jobs;
}

Status check_waits(const Job& job) {
  if (job.is_waiting()) return ok();
  if (job.is_terminal()) {
    return failed_precondition("job {} has {}; only waiting jobs have an order", shown_id(job),
                               to_string(job.state));
  }
  return failed_precondition("job {} runs; only waiting jobs have an order", shown_id(job));
}

Status check_same_queue(const Job& job, const Job& other) {
  if (other.id == job.id) return invalid_argument("job {} can't go before itself", shown_id(job));
  RETURN_IF_ERROR(check_waits(other));
  if (other.user != job.user) {
    return failed_precondition("job {} belongs to {}, job {} to {}: one orders one's own jobs",
                               shown_id(job), job.user, shown_id(other), other.user);
  }
  if (other.spec->group == job.spec->group) return ok();
  return failed_precondition("job {} waits in group {}, job {} in {}", shown_id(job),
                             job.spec->group, shown_id(other), other.spec->group);
}

}  // namespace

Result<CommandReply> decide(Decision& decision, const MoveJob& command, const Actor& actor) {
  const ClusterState& state = decision.state();
  Result<const Job*> found = find_controllable(state, actor, command.job);
  if (!found.is_ok()) return found.status();
  const Job& job = *found.value();
  RETURN_IF_ERROR(check_waits(job));
  const Job* other = nullptr;
  if (command.to == MoveJob::To::before) {
    Result<const Job*> named = find_controllable(state, actor, command.other);
    if (!named.is_ok()) return named.status();
    other = named.value();
    RETURN_IF_ERROR(check_same_queue(job, *other));
  }

  std::vector<const Job*> order = waiting_jobs(state, job.user, job.spec->group);
  std::vector<int64_t> ranks;
  for (const Job* each : order) ranks.push_back(each->custom_rank);
  std::erase(order, &job);
  auto place = command.to == MoveJob::To::last ? order.end() : order.begin();
  if (other != nullptr) place = std::ranges::find(order, other);
  place = order.insert(place, &job);
  const auto number = place - order.begin() + 1;
  const std::string message = fmt::format("is now number {} of the {} jobs of {} that wait in {}",
                                          number, order.size(), job.user, job.spec->group);
  std::vector<std::pair<JobId, int64_t>> changes;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i]->custom_rank != ranks[i]) changes.emplace_back(order[i]->id, ranks[i]);
  }
  for (const auto& [id, rank] : changes) decision.emit(JobRankChanged{id, rank});
  return CommandReply{.job = job.id,
                      .name = job.spec->name,
                      .message = message,
                      .rows = static_cast<int64_t>(changes.size())};
}

}  // namespace hai
