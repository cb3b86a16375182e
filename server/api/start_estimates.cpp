#include "server/api/start_estimates.h"

#include <algorithm>

namespace hai {

StartEstimates::StartEstimates(Controller& controller, EventFeed& feed, History* history)
    : controller_(controller), feed_(feed), history_(history) {
  watch_ = feed_.watch({}, [this] { read_events(); });
}

StartEstimates::~StartEstimates() { feed_.unwatch(watch_); }

Duration StartEstimates::promise(JobId job, UnixTime now, Duration forecast_p90) {
  const Duration within = calibration_.widened(forecast_p90);
  if (promises_.size() < kPromisesMax) promises_.try_emplace(job, Promise{now, within});
  return within;
}

JobId StartEstimates::take_unpromised() {
  const JobId job = std::exchange(unpromised_, {});
  return promises_.contains(job) ? JobId{} : job;
}

void StartEstimates::read_events() {
  for (int64_t seq = std::max(seen_to_, feed_.before_first()) + 1; seq <= feed_.last_seq(); ++seq) {
    if (const Event* event = feed_.find(seq)) learn(*event);
  }
  seen_to_ = feed_.last_seq();
}

void StartEstimates::learn(const Event& event) {
  const EventBody& body = event.body;
  if (std::holds_alternative<EpochStarted>(body)) return warm();
  const JobId id = job_of(body);
  if (const auto* submitted = std::get_if<JobSubmitted>(&body)) {
    if (submitted->spec->array.empty()) unpromised_ = id;  // an array never starts
  } else if (std::holds_alternative<AttemptPlaced>(body)) {
    auto it = promises_.find(id);
    if (it == promises_.end()) return;
    calibration_.observe(it->second.within, event.time - it->second.made_at);
    promises_.erase(it);
  } else if (std::holds_alternative<JobHeld>(body) || std::holds_alternative<JobFinished>(body) ||
             std::holds_alternative<JobPriorityChanged>(body) ||
             std::holds_alternative<JobRankChanged>(body) ||
             std::holds_alternative<JobEdited>(body)) {
    promises_.erase(id);  // Its user changed his mind.
    if (!std::holds_alternative<JobFinished>(body)) return;
    const ClusterState& state = controller_.state();
    if (const Job* job = state.find(id)) learn_run_time(state, *job);
  }
}

void StartEstimates::learn_run_time(const ClusterState& state, const Job& job) {
  if (job.is_array()) return;
  const int gpus = std::max(1, gpus_asked(state, job));
  run_times_.add(job.user, job.spec->group, gpus, std::chrono::seconds(job.gpu_seconds / gpus));
}

void StartEstimates::warm() {
  if (history_ == nullptr || run_times_.count() > 0) return;
  history_->jobs({.states = {JobState::succeeded, JobState::failed, JobState::stopped},
                  .limit = kHistoryPageMax},
                 scope_.bind([this](const Result<std::vector<Job>>& jobs) {
                   if (!jobs.is_ok()) return;
                   for (const Job& job : jobs.value()) learn_run_time(controller_.state(), job);
                 }));
}

}  // namespace hai
