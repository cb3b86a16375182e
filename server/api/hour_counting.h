#pragma once
// Has the store count what happened hour by hour (common/hour_store.h), as long as this server
// leads: within a minute of the beginning of its term, then every minute, and soon again while much
// is left. On the loop's thread.

#include "common/hour_store.h"
#include "common/loop.h"
#include "common/loop_scope.h"
#include "server/control/engine/controller.h"

namespace hai {

class HourCounting {
 public:
  static constexpr Duration kPeriod = 1min;
  static constexpr Duration kCatchUp = 1s;  // between two parts of a long log

  // `store` may be null: then nothing is counted.
  HourCounting(Loop& loop, const Controller& controller, HourStore* store, Duration keep);
  ~HourCounting();
  HourCounting(const HourCounting&) = delete;
  HourCounting& operator=(const HourCounting&) = delete;

  HourStore* store() const { return store_; }
  void set_keep(Duration keep) { keep_ = keep; }

 private:
  void arm(Duration pause);
  void tick();

  Loop& loop_;
  const Controller& controller_;
  HourStore* const store_;
  Duration keep_;
  TimerId timer_ = 0;
  LoopScope scope_;
};

}  // namespace hai
