#include "cli/waiting_text.h"

#include "cli/format.h"
#include "cli/job_view.h"
#include "common/count_of.h"

namespace hai::cli {
namespace {

constexpr int kJobsCounted = 2'000;  // the server counts no further

Duration until(int64_t micros, UnixTime now) { return unix_micros(micros) - now; }

}  // namespace

std::string place_text(const v1::WhyJobReply& why) {
  if (!why.has_jobs_before()) return "";
  if (why.jobs_before() == 0) return "first in the queue";
  return count_of(why.jobs_before(), "job") +
         (why.jobs_before() >= kJobsCounted ? " or more before it" : " before it");
}

bool is_waiting(const v1::Job& job) {
  return job.state() == "queued" || job.state() == "suspended";
}

std::string waiting_text(const v1::Job& job) {
  if (!is_waiting(job)) return "";
  std::string line = fmt::format("job {} is {}", job.id(), job.state());
  if (is_held_by_somebody(job)) return line + " and held: `hai release` lets it run";
  if (job.has_pending_reason()) line += ": " + job.pending_reason().text();
  return line;
}

std::string outlook_text(const v1::WhyJobReply& why, UnixTime now) {
  std::string text = place_text(why);
  if (!why.has_start_p50_us()) return text;
  if (!text.empty()) text += "; ";
  const Duration half = until(why.start_p50_us(), now);
  text += half < 1s ? "expected to start now"
                    : fmt::format("expected to start in {}", short_duration(half));
  if (!why.has_start_p90_us()) return text + ", or far later";
  const Duration most = until(why.start_p90_us(), now);
  if (most >= 1s) text += fmt::format(", 9 of 10 such jobs within {}", short_duration(most));
  return text;
}

std::string progress_text(const v1::Job& job, const std::optional<v1::WhyJobReply>& why,
                          UnixTime since, UnixTime now) {
  std::string text =
      fmt::format("job {} {} {}", job.id(), job.state(), short_duration(now - since));
  if (is_held_by_somebody(job)) return text + ": held, `hai release` lets it run";
  if (job.held()) return text + ": " + job.pending_reason().text();
  const char* separator = ": ";
  if (why && why->has_jobs_before()) {
    text += separator + place_text(*why);
    separator = ", ";
  }
  if (why && why->has_start_p50_us()) {
    const Duration half = until(why->start_p50_us(), now);
    text += separator + (half < 1s ? std::string("starts now")
                                   : fmt::format("starts in about {}", short_duration(half)));
    separator = "; ";
  }
  if (separator[0] == ',') separator = "; ";
  if (job.has_pending_reason()) text += separator + job.pending_reason().text();
  return text;
}

}  // namespace hai::cli
