#pragma once
// Why a job waits, when it will start, and what a change would do. What is needed of the state is
// copied on the loop's thread; the thinking happens on threads of its own, so that nobody waits
// for it but who asked: one for reasons, which take milliseconds, and one for looks ahead, which
// take seconds. Nothing here changes the live state. On the loop's thread.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/loop_scope.h"
#include "server/api/ended_jobs.h"
#include "server/api/queries.h"
#include "server/api/question_worker.h"
#include "server/api/queue_board.h"
#include "server/api/start_estimates.h"
#include "server/plan/blocking.h"
#include "server/plan/whatif.h"

namespace hai {

struct WhyView {
  JobView job;
  std::vector<BlockingFact> facts;  // merged for people
  std::optional<UnixTime> start_p50;
  std::optional<UnixTime> start_p90;
  std::string estimate_note;       // how it came about, or why there is none
  std::optional<int> jobs_before;  // plan/queue_place.h
};

// For people, without the names of jobs that are not to be seen.
std::vector<BlockingFact> visible_facts(std::vector<BlockingFact> facts, const Sight& sight);

struct SubmitChange {
  JobSpec spec;
  std::vector<EndedJob> history = {};  // those it depends on
};
struct DrainChange {
  std::vector<std::string> nodes;  // names or host lists
};
struct QuotaChange {
  Quota quota;                       // nodes < 0: unlimited
  std::optional<Priority> priority;  // nullopt: every level
};
struct PriorityChange {
  std::string job;
  Priority priority = Priority::low;
};
struct KnobChange {
  std::string name;
  std::string value;
};
// What is absent stays as it is.
struct UserChange {
  std::string name;
  std::optional<Role> role;
  std::optional<bool> active;
  std::optional<std::vector<std::string>> groups;
};
using Change =
    std::variant<SubmitChange, DrainChange, QuotaChange, PriorityChange, KnobChange, UserChange>;

inline constexpr size_t kDifferencesMax = 1'000;
inline constexpr Duration kForecastTimeMax = 4s;
// Of the thread that thinks.
ForecastOptions timed_forecast();

struct DifferenceView {
  JobDifference difference;
  std::string name;
  std::string user;
  Priority priority = Priority::low;
};
struct WhatIfView {
  std::string text;  // the change in one sentence
  std::vector<DifferenceView> differences;
  size_t left_out = 0;
  std::optional<WhyView> job;  // of SubmitChange and PriorityChange: after the change
};

class Advisor {
 public:
  Advisor(Loop& loop, Controller& controller, Queries& queries, StartEstimates& estimates,
          const QueueBoard& queue, History* history);
  ~Advisor();

  // `job` as for Queries::get_job. Facts and estimate only if it waits.
  void why(const Caller& caller, const std::string& job, bool with_estimate, Done<WhyView> done);
  void what_if(const Caller& caller, Change change, Done<WhatIfView> done);
  // Whether the job would be taken if it were submitted now; with the error a submit would give.
  void dry_run(const Caller& caller, JobSpec spec, Done<CommandReply> done);

  const StartEstimates& estimates() const { return estimates_; }

 private:
  struct Question;

  void think(const Controller::ReadContext& context, const Actor& actor, JobId job,
             bool with_estimate, JobView view, Done<WhyView> done);
  void deliver(const Question& question, WhyView& why);
  void try_submit(const Caller& caller, const SubmitChange& change, Done<CommandReply> done);
  void think_what_if(const Caller& caller, Change change, Done<WhatIfView> done);
  void arm_practice();
  void practise();

  Loop& loop_;
  Controller& controller_;
  Queries& queries_;
  const EndedJobs ended_jobs_;
  StartEstimates& estimates_;
  const QueueBoard& queue_;
  TimerId practice_timer_ = 0;
  LoopScope scope_;
  QuestionWorker reasons_worker_;  // last two: their threads use what others own
  QuestionWorker ahead_worker_;
};

}  // namespace hai
