#include "cli/why_view.h"

#include "cli/format.h"
#include "cli/job_view.h"
#include "cli/table.h"
#include "cli/waiting_text.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {
namespace {

// "in 2h10m (2026-11-20 10:10:00)"
std::string moment(int64_t micros, UnixTime now) {
  const Duration ahead = unix_micros(micros) - now;
  if (ahead < 1s) return "now";
  return fmt::format("in {} ({})", short_duration(ahead), local_time(micros));
}

std::string facts_text(const v1::WhyJobReply& why, const Terminal& terminal) {
  if (why.facts_size() == 0) return "";
  if (why.job().has_array() && why.facts(0).code() == "array") {  // it never starts itself
    return printable(why.facts(0).text()) + "\n";
  }
  std::string text = why.facts_size() == 1 ? "It could start now but for this:\n"
                                           : "It could start now but for all of these:\n";
  size_t width = 0;
  for (const v1::BlockingFact& fact : why.facts()) width = std::max(width, fact.code().size());
  for (const v1::BlockingFact& fact : why.facts()) {
    const std::string code = fact.code() + std::string(width - fact.code().size(), ' ');
    text += fmt::format("  {}  {}", paint(code, Colour::yellow, terminal), printable(fact.text()));
    // Most texts name what holds it up.
    if (fact.code() == "quota" && fact.holders_size() > 0) {
      text +=
          fmt::format("; used by {}", join({fact.holders().begin(), fact.holders().end()}, ", "));
    }
    text += "\n";
  }
  return text;
}

std::string estimate_text(const v1::WhyJobReply& why, const Terminal& terminal) {
  if (why.estimate_note().empty() || why.job().has_array()) return "";
  std::string text = "Expected start: ";
  const UnixTime now = wall_now();
  if (why.has_start_p50_us()) {
    text += moment(why.start_p50_us(), now);
    text += why.has_start_p90_us() ? fmt::format("; 9 of 10 such jobs start {}",
                                                 why.start_p90_us() - to_micros(now) < 1'000'000
                                                     ? std::string("now")
                                                     : "with" + moment(why.start_p90_us(), now))
                                   : "; it may be far later";
  } else {
    text += "not known";
  }
  return text + "\n" + paint("  (" + printable(why.estimate_note()) + ")", Colour::grey, terminal) +
         "\n";
}

}  // namespace

std::string why_text(const v1::WhyJobReply& why, const Terminal& terminal) {
  const v1::Job& job = why.job();
  std::string text = fmt::format("job {} {} is {}", job_number(job), printable(job.name()),
                                 paint(job.state(), colour_of(job.state()), terminal));
  if (job.attempt_state() == "suspending") text += ", and leaves: it was asked to";
  if (job.has_ended_at_us() && !job.end_reason().empty())
    text += ": " + printable(job.end_reason());
  if (!why.has_pending_reason()) return text + "\n";
  const v1::PendingReason& reason = why.pending_reason();
  text += fmt::format(": {} ({})\n", printable(reason.text()), reason.code());
  if (const std::string place = place_text(why); !place.empty()) {
    text += fmt::format("Place: {}\n", place);
  }
  return text + facts_text(why, terminal) + estimate_text(why, terminal);
}

}  // namespace hai::cli
