#pragma once
// From the threads that talk to the server to the one that draws: what they post lies here until it
// looks, and a file descriptor tells it to.

#include <mutex>
#include <utility>
#include <vector>

#include "cli/top/wake.h"

namespace hai::cli::top {

template <typename Item>
class Mailbox {
 public:
  explicit Mailbox(const Wake& wake) : wake_(wake) {}

  void post(Item item) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
    }
    wake_.ring();
  }
  std::vector<Item> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(items_, {});
  }

 private:
  const Wake& wake_;
  std::mutex mutex_;
  std::vector<Item> items_;
};

}  // namespace hai::cli::top
