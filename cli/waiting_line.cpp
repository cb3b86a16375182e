#include "cli/waiting_line.h"

#include <cstdio>
#include <utility>

#include "cli/client.h"
#include "cli/format.h"
#include "cli/patience.h"
#include "cli/session.h"
#include "cli/table.h"
#include "cli/waiting_text.h"
#include "common/hostlist.h"

namespace hai::cli {
namespace {

constexpr Duration kTick = 1s;
// An estimate costs the server seconds of thought: asked for at once, then as the job changes, and
// now and then because others come and go.
constexpr Duration kAskAgain = 5s;
constexpr Duration kAskAnyway = 30s;
constexpr Duration kWorthTelling = 2s;

}  // namespace

WaitingLine::WaitingLine(const Client& client)
    : terminal_(stderr_terminal()),
      in_place_(terminal_.is_tty && terminal_.moves_cursor),
      client_(client.clone()) {
  client_->set_notice([](const std::string&) {});
  thread_ = std::thread([this] { run(); });
}

WaitingLine::~WaitingLine() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wakes_.notify_all();
  client_->stop();
  thread_.join();
  wipe();
}

void WaitingLine::update(const v1::Job& job) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_waiting(job)) {
      job_.reset();
      why_.reset();
    } else {
      if (!job_) {
        since_ = job.state() == "queued" ? unix_micros(job.submitted_at_us()) : wall_now();
        seen_at_ = mono_now();
      }
      is_stale_ |= !job_ || waiting_text(*job_) != waiting_text(job);
      job_ = job;
    }
    show();
  }
  if (!is_waiting(job)) wipe();
  wakes_.notify_all();
}

void WaitingLine::tell_start(const v1::Job& job) {
  const std::lock_guard lock(mutex_);
  // Only of a wait that was long enough to be read about.
  const bool is_worth_it = job_ && job.nodes_size() > 0 && mono_now() - seen_at_ >= kWorthTelling;
  job_.reset();
  if (std::exchange(is_shown_, false)) std::fprintf(stderr, "\r\033[K");
  if (!is_worth_it) return;
  say(fmt::format("job {} starts on {} after {}", job.id(),
                  format_hostlist({job.nodes().begin(), job.nodes().end()}),
                  short_duration(wall_now() - since_)));
}

void WaitingLine::wipe() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_shown_, false)) std::fprintf(stderr, "\r\033[K");
}

void WaitingLine::run() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    const Duration age = mono_now() - asked_;
    const bool is_due =
        asked_ == MonoTime{} || age > kAskAnyway || ((is_stale_ || !why_) && age > kAskAgain);
    if (may_ask() && is_due) ask_why(lock);
    if (is_over_) return;
    show();
    wakes_.wait_for(lock, kTick,
                    [&] { return is_over_ || (may_ask() && !why_ && asked_ == MonoTime{}); });
  }
}

// A job that is held waits for a person, and nobody can estimate that.
bool WaitingLine::may_ask() const { return job_ && !job_->held(); }

void WaitingLine::ask_why(std::unique_lock<std::mutex>& lock) {
  v1::WhyJobRequest request;
  request.set_job(std::to_string(job_->id()));
  request.set_with_estimate(true);
  is_stale_ = false;
  asked_ = mono_now();
  lock.unlock();
  Result<v1::WhyJobReply> reply = client_->why_job(request);
  lock.lock();
  // Without an answer the reason alone is told.
  if (reply.is_ok() && job_ && is_waiting(reply.value().job())) {
    why_ = std::move(reply).value();
    job_ = why_->job();
  }
}

// With the lock.
void WaitingLine::show() {
  if (!job_ || is_over_) return;
  const UnixTime now = wall_now();
  if (in_place_) {
    const std::string text = "hai: " + printable(progress_text(*job_, why_, since_, now));
    const auto width = static_cast<size_t>(terminal_.width);
    std::fprintf(stderr, "\r\033[K%s", cut(text, width - 1).c_str());
    is_shown_ = true;
    return;
  }
  if (const std::string line = waiting_text(*job_); line != told_) {
    say(line);
    told_ = line;
  }
  if (!why_) return;
  // The times of an estimate change with every answer: only a new place is news.
  const std::string outlook = fmt::format("{} {}", why_->jobs_before(), why_->has_start_p50_us());
  const std::string text = outlook_text(*why_, now);
  if (outlook == told_outlook_ || text.empty()) return;
  told_outlook_ = outlook;
  say(fmt::format("job {}: {}", job_->id(), text));
}

}  // namespace hai::cli
