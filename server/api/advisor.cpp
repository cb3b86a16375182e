#include "server/api/advisor.h"

#include <algorithm>

#include "server/plan/queue_place.h"
#include "server/plan/snapshot.h"

namespace hai {
namespace {

// Now and then a new job is promised a start that nobody asked for, so that the calibration learns.
constexpr Duration kPracticePeriod = 60s;

// Whatever a person has to change first: no estimate would mean anything.
bool waits_for_somebody(const std::vector<BlockingFact>& facts, const Job& job) {
  return job.failed_dependency || std::ranges::any_of(facts, [](const BlockingFact& fact) {
           return fact.kind == BlockingKind::held || fact.kind == BlockingKind::user_inactive ||
                  fact.kind == BlockingKind::hardware;
         });
}

}  // namespace

std::vector<BlockingFact> visible_facts(std::vector<BlockingFact> facts, const Sight& sight) {
  for (BlockingFact& fact : facts) fact.text = sight.clean(std::move(fact.text));
  return merge_facts(facts);
}

ForecastOptions timed_forecast() {
  const auto until = std::chrono::steady_clock::now() + kForecastTimeMax;
  return {.is_over = [until] { return std::chrono::steady_clock::now() >= until; }};
}

// What the thread works on: all its own.
struct Advisor::Question {
  StoredState stored;
  Knobs knobs;
  UnixTime now{};
  RunTimes run_times;
  JobId job;
  bool with_estimate = false;
  std::optional<QueueBoard::Foreseen> foreseen;  // need not be thought about again

  bool is_array = false;
  std::vector<BlockingFact> facts;
  std::optional<StartForecast> forecast;
  std::optional<int> before;

  void answer() {
    const ClusterState state(std::move(stored));
    facts = blocking_set(state, knobs, now, job);
    before = jobs_before(state, knobs, now, job);
    is_array = state.find(job)->is_array();
    if (!with_estimate || is_array || waits_for_somebody(facts, *state.find(job))) return;
    if (foreseen) {
      forecast = foreseen->forecast;
      return;
    }
    forecast = forecast_start(state, knobs, now, job, run_times, timed_forecast());
  }
};

Advisor::Advisor(Loop& loop, Controller& controller, Queries& queries, StartEstimates& estimates,
                 const QueueBoard& queue, History* history)
    : loop_(loop),
      controller_(controller),
      queries_(queries),
      ended_jobs_(controller, history, queries.sights()),
      estimates_(estimates),
      queue_(queue) {
  arm_practice();
}

Advisor::~Advisor() { loop_.cancel(practice_timer_); }

void Advisor::why(const Caller& caller, const std::string& job, bool with_estimate,
                  Done<WhyView> done) {
  queries_.find_job(caller, job,
                    [this, caller, with_estimate, done](Result<Queries::FoundJob> found) {
                      if (!found.is_ok()) return done(found.status());
                      const JobId id = found.value().job.id;
                      JobView view = std::move(found.value().view);
                      if (!found.value().job.is_waiting())
                        return done(WhyView{.job = std::move(view)});
                      controller_.read(
                          caller,
                          [this, id, with_estimate, view = std::move(view), done](
                              const Controller::ReadContext& context, const Actor& actor) {
                            const Job* job = context.state.find(id);
                            if (job == nullptr || !job->is_waiting())
                              return done(WhyView{.job = view});
                            think(context, actor, id, with_estimate, view, done);
                          },
                          done);
                    });
}

void Advisor::think(const Controller::ReadContext& context, const Actor& actor, JobId job,
                    bool with_estimate, JobView view, Done<WhyView> done) {
  const Sight sight = queries_.sight_of(context.state, actor);
  auto question = std::make_shared<Question>();
  question->knobs = controller_.knobs();
  question->now = loop_.wall_now();
  question->stored =
      copy_for_planning(context.state, question->knobs, question->now, {.focus = job});
  question->run_times = estimates_.run_times();
  question->job = job;
  question->with_estimate = with_estimate;
  if (with_estimate) question->foreseen = queue_.foreseen(*context.state.find(job));
  auto deliver_later = scope_.bind([this, question, view = std::move(view), sight, done] {
    WhyView why{.job = view, .facts = visible_facts(question->facts, sight)};
    why.jobs_before = question->before;
    if (question->forecast) {
      deliver(*question, why);
    } else if (question->with_estimate) {
      why.estimate_note = question->is_array ? "an array starts task by task"
                                             : "none: it waits for a person to change something";
    }
    done(std::move(why));
  });
  // The answer goes back as a whole: what it holds belongs to the loop's thread.
  QuestionWorker& worker = with_estimate && !question->foreseen ? ahead_worker_ : reasons_worker_;
  const bool is_taken = worker.post(
      [&loop = loop_, question, answer = std::move(deliver_later)]() mutable {
        question->answer();
        loop.post(std::move(answer));
      },
      actor.user);
  if (is_taken) return;
  done(resource_exhausted("{} questions wait to be thought about already; ask again in a while",
                          QuestionWorker::kWaitingMax));
}

void Advisor::deliver(const Question& question, WhyView& why) {
  const StartForecast& forecast = *question.forecast;
  const UnixTime from = question.foreseen ? question.foreseen->at : question.now;
  why.estimate_note =
      fmt::format("the planner run ahead {} times, with run times learned from {} jobs",
                  forecast.samples, estimates_.run_times().count());
  if (question.foreseen) {
    why.estimate_note +=
        fmt::format(", for the whole queue {} s ago", (question.now - from) / Duration(1s));
  }
  if (!forecast.p50) {
    why.estimate_note += "; it mostly did not start within what can be foreseen";
    return;
  }
  // What was foreseen a moment ago may be due by now.
  why.start_p50 = std::max(question.now, from + *forecast.p50);
  if (!forecast.p90) return;
  const Duration p90 = std::max(Duration{0}, from + *forecast.p90 - question.now);
  why.start_p90 =
      std::max(*why.start_p50, question.now + estimates_.promise(question.job, question.now, p90));
  const EstimateCalibration& calibration = estimates_.calibration();
  if (calibration.observed() > 0) {
    why.estimate_note += fmt::format("; {} of {} jobs so far started by the time promised",
                                     calibration.hits(), calibration.observed());
  }
}

void Advisor::arm_practice() {
  practice_timer_ = loop_.call_after(kPracticePeriod, [this] {
    practise();
    arm_practice();
  });
}

void Advisor::practise() {
  if (!controller_.is_leading() || !ahead_worker_.is_idle()) return;
  const ClusterState& state = controller_.state();
  const JobId id = estimates_.take_unpromised();
  const Job* job = state.find(id);
  if (job == nullptr || !job->is_waiting()) return;
  think({state, controller_.soft_facts(), ""}, Actor{}, id, true, {},
        [](const Result<WhyView>&) {});
}

}  // namespace hai
