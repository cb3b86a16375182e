#pragma once
// Looks closer at ranks whose shim says that they are silent: do their machines stand still, too?
// Costs nothing for those that talk, but one look when they begin, to compare with. Loop thread
// only.

#include <functional>
#include <map>

#include "common/agent_messages.h"
#include "common/hang_signs.h"
#include "common/loop.h"

namespace hai {

class HangWatch {
 public:
  // `sample` looks at a rank now. `changed` is called when its signs are others.
  using Sample = std::function<ActivitySample(const RankKey&)>;
  using Changed = std::function<void(const RankKey&)>;
  HangWatch(Loop& loop, Sample sample, Changed changed);
  ~HangWatch();
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

  // The shim says so of the rank: from `word_at` on it is watched, without it no more.
  void follow(const RankStatus& status, Duration watchdog);
  void forget(const RankKey& key);
  // Adds what was found to what the shim says.
  void complete(RankStatus& status) const;

  // The machine must stand still for so long, too, before it is a sign.
  static Duration patience(Duration watchdog);

 private:
  struct Watched {
    RankActivity activity;
    Duration watchdog{0};
    bool is_suspect = false;
    std::vector<RankSign> signs;
    std::optional<int> gpu_percent;
    TimerId timer = 0;
  };
  void look(const RankKey& key);

  Loop& loop_;
  const Sample sample_;
  const Changed changed_;
  std::map<RankKey, Watched> ranks_;
};

}  // namespace hai
