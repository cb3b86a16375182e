// Lists of jobs in memory, a slice of the jobs per turn of the controller.

#include <algorithm>
#include <set>

#include "server/api/job_list.h"

namespace hai {

namespace {

constexpr int kSliceCost = 4'000;  // about a millisecond
constexpr int kReasonCost = 8;     // what finding a reason costs, in jobs looked at

// Runs to its end by itself: each slice asks for the next one.
class JobScan : public std::enable_shared_from_this<JobScan> {
 public:
  JobScan(Controller& controller, Caller caller, JobListRequest request, const Sights& sights,
          Done<JobPage> done)
      : controller_(controller),
        caller_(std::move(caller)),
        request_(std::move(request)),
        sights_(sights),
        done_(std::move(done)),
        best_(Before{request_.order.descending}) {
    if (request_.order.is_newest_first() && !request_.count_all) below_ = request_.before;
  }

  void next() {
    controller_.read(
        caller_,
        [self = shared_from_this()](const Controller::ReadContext& context, const Actor& actor) {
          self->slice(context, actor);
        },
        done_);
  }

 private:
  struct Before {
    bool descending;
    bool operator()(const JobPlace& a, const JobPlace& b) const {
      return descending ? b < a : a < b;
    }
  };

  void slice(const Controller::ReadContext& context, const Actor& actor) {
    if (!sight_) sight_ = sights_.of(context.state, actor);
    const std::string& user = request_.only_mine ? actor.user : request_.user;
    const auto& jobs = context.state.jobs();
    auto it = below_ ? jobs.lower_bound(below_) : jobs.end();
    int budget = kSliceCost;
    while (it != jobs.begin() && budget > 0) {
      const Job& job = (--it)->second;
      --budget;
      if (!matches(job, request_, user, *sight_)) continue;
      if (!request_.reasons.empty()) {
        budget -= kReasonCost;
        if (!has_reason(context, job)) continue;
      }
      ++total_;
      consider(job);
      if (is_enough()) return finish(context);
    }
    if (it == jobs.begin()) return finish(context);
    below_ = it->first;
    next();
  }

  bool has_reason(const Controller::ReadContext& context, const Job& job) const {
    const std::optional<PendingReason> reason =
        view_job(context.state, job, context.soft).pending_reason;
    return reason &&
           std::ranges::find(request_.reasons, to_string(reason->code)) != request_.reasons.end();
  }

  void consider(const Job& job) {
    if (request_.before && request_.order.by == JobOrderBy::id && job.id >= request_.before &&
        request_.order.descending) {
      return;
    }
    JobPlace place = place_of(job, request_.order.by);
    if (request_.after && !best_.key_comp()(*request_.after, place)) return;
    best_.insert(std::move(place));
    if (best_.size() > static_cast<size_t>(request_.limit) + 1) best_.erase(std::prev(best_.end()));
  }

  // From the newest on, nothing better can come.
  bool is_enough() const {
    return request_.order.is_newest_first() && !request_.count_all &&
           best_.size() > static_cast<size_t>(request_.limit);
  }

  void finish(const Controller::ReadContext& context) {
    JobPage page;
    if (request_.count_all) page.total = total_;
    const auto limit = static_cast<size_t>(request_.limit);
    const JobPlace* last = nullptr;
    for (const JobPlace& place : best_) {
      if (page.jobs.size() == limit) break;
      last = &place;
      // It may have ended and been forgotten since its slice.
      const Job* job = context.state.find(place.id);
      if (job == nullptr) continue;
      page.jobs.push_back(visible_view(view_job(context.state, *job, context.soft), *sight_));
    }
    if (best_.size() > limit && last != nullptr) {
      if (request_.order.is_newest_first()) page.next = last->id;
      page.after = *last;
    }
    done_(std::move(page));
  }

  Controller& controller_;
  const Caller caller_;
  const JobListRequest request_;
  const Sights sights_;
  std::optional<Sight> sight_;  // of the first slice
  const Done<JobPage> done_;
  JobId below_;
  int64_t total_ = 0;
  std::set<JobPlace, Before> best_;  // one more than a page
};

}  // namespace

void scan_jobs(Controller& controller, const Caller& caller, JobListRequest request,
               const Sights& sights, Done<JobPage> done) {
  std::make_shared<JobScan>(controller, caller, std::move(request), sights, std::move(done))
      ->next();
}

}  // namespace hai
