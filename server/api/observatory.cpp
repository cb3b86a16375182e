#include "server/api/observatory.h"

namespace hai {

Observatory::Observatory(Loop& loop, Controller& controller, SampleStore* store)
    : loop_(loop), controller_(controller), census_(loop, controller) {
  series_.set_store(store);
  timer_ = loop_.call_after(ClusterSeries::kPeriod, [this] { tick(); });
}

Observatory::~Observatory() { loop_.cancel(timer_); }

void Observatory::standing_changed() {
  summary_at_.reset();
  const bool is_leading = controller_.is_leading();
  if (is_leading == was_leading_) return;
  was_leading_ = is_leading;
  census_.forget();
  usage_.forget();
  if (is_leading) series_.load(loop_.wall_now());
}

void Observatory::tick() {
  timer_ = loop_.call_after(ClusterSeries::kPeriod, [this] { tick(); });
  if (!controller_.is_leading()) return;
  const UnixTime now = loop_.wall_now();
  const std::string name;
  const ClusterSummary now_summary = summarize({controller_.state(), {}, name});
  series_.add(sample_of(now_summary, now));
  const double period = static_cast<double>(ClusterSeries::kPeriod / Duration(1s));
  gpu_seconds_["used"] += period * now_summary.gpus_working();
  gpu_seconds_["free"] += period * now_summary.view.gpus_free;
  gpu_seconds_["reserved"] += period * now_summary.gpus_reserved;
  gpu_seconds_["draining"] += period * now_summary.gpus_draining;
  gpu_seconds_["broken"] += period * now_summary.gpus_not_up();
  census_.last();
  const SoftFacts soft = controller_.soft_facts();
  if (soft.progress != nullptr) progress_.note(now, *soft.progress);
  if (soft.sessions != nullptr) usage_.note(now, controller_.state(), *soft.sessions);
}

const ClusterSummary& Observatory::summary(const Controller::ReadContext& context) {
  const MonoTime now = loop_.now();
  const bool has_changed = context.state.last_seq() != summary_.last_seq;
  if (summary_at_ && now < (has_changed ? summary_again_at_ : *summary_at_ + kSummaryAgeMax)) {
    return summary_;
  }
  summary_ = summarize(context);
  summary_at_ = now;
  summary_again_at_ = now + (loop_.now() - now) * kPauseFactor;
  return summary_;
}

}  // namespace hai
