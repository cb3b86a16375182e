#include "server/api/hour_counting.h"

#include "common/log.h"

namespace hai {

HourCounting::HourCounting(Loop& loop, const Controller& controller, HourStore* store,
                           Duration keep)
    : loop_(loop), controller_(controller), store_(store), keep_(keep) {
  if (store_ != nullptr) arm(kCatchUp);
}

HourCounting::~HourCounting() { loop_.cancel(timer_); }

void HourCounting::arm(Duration pause) {
  timer_ = loop_.call_after(pause, [this] { tick(); });
}

void HourCounting::tick() {
  timer_ = 0;
  if (!controller_.is_leading()) return arm(kPeriod);
  store_->count(keep_, scope_.bind([this](Result<bool> is_more) {
    if (!is_more.is_ok()) {
      log_warning("hours_not_counted", {{"reason", is_more.status()}});
    }
    arm(is_more.is_ok() && is_more.value() ? kCatchUp : kPeriod);
  }));
}

}  // namespace hai
