#include "server/api/job_tail.h"

#include "server/api/event_feed.h"

namespace hai {

namespace {

class JobTail : public std::enable_shared_from_this<JobTail> {
 public:
  using Answer = Done<std::optional<JobView>>;

  JobTail(Queries& queries, Caller caller, std::string job)
      : queries_(queries), caller_(std::move(caller)), job_(std::move(job)) {}
  ~JobTail() { queries_.feed().unwatch(watch_); }

  void next(Answer answer) {
    if (has_ended_) return answer(std::optional<JobView>());
    answer_ = std::move(answer);
    if (is_changed_) ask();
  }

 private:
  void ask() {
    is_changed_ = false;
    is_asking_ = true;
    queries_.get_job(caller_, job_, [weak = weak_from_this()](Result<JobView> job) {
      if (auto self = weak.lock()) self->got(std::move(job));
    });
  }

  void got(Result<JobView> job) {
    is_asking_ = false;
    Answer answer = std::exchange(answer_, nullptr);
    if (!job.is_ok()) return answer(job.status());
    if (watch_ == 0) {
      // From now on by id: the name may go to another job.
      job_ = std::to_string(job.value().id);
      watch_ = queries_.feed().watch(JobId{job.value().id}, [this] { changed(); });
    }
    has_ended_ = is_terminal(job.value().state);
    answer(std::optional(std::move(job).value()));
  }

  void changed() {
    is_changed_ = true;
    if (answer_ && !is_asking_) ask();
  }

  Queries& queries_;
  const Caller caller_;
  std::string job_;
  Answer answer_;
  EventFeed::WatchId watch_ = 0;
  bool is_changed_ = true;
  bool is_asking_ = false;
  bool has_ended_ = false;
};

}  // namespace

Source<JobView> tail_job(Queries& queries, Caller caller, std::string job) {
  auto tail = std::make_shared<JobTail>(queries, std::move(caller), std::move(job));
  return [tail](JobTail::Answer answer) { tail->next(std::move(answer)); };
}

}  // namespace hai
