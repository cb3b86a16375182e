#include "cli/slurm/pmix/inbox.h"

#include <sys/eventfd.h>

namespace hai::cli::slurm {

Inbox::Inbox() : wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void Inbox::wake() const {
  const uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

void Inbox::post(MpiMessage message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  wake();
}

void Inbox::post(MpiMessage message, Waiting waiting) {
  {
    const std::lock_guard lock(mutex_);
    message.id = next_id_++;
    waiting_[message.id] = waiting;
    messages_.push_back(std::move(message));
  }
  wake();
}

std::vector<MpiMessage> Inbox::take_all() {
  uint64_t count = 0;
  static_cast<void>(!::read(wake_.get(), &count, sizeof count));
  const std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

std::optional<Inbox::Waiting> Inbox::take_waiting(uint32_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return std::nullopt;
  const Waiting waiting = found->second;
  waiting_.erase(found);
  return waiting;
}

}  // namespace hai::cli::slurm
