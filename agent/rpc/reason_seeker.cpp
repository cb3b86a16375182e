#include "agent/rpc/reason_seeker.h"

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "common/tls/tls_client.h"

namespace hai {

struct ReasonSeeker::Shared {
  std::mutex mutex;
  bool is_seeking = true;
  std::optional<Finding> found;
};

void ReasonSeeker::seek(const std::string& server, const TlsTexts& texts) {
  if (shared_) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->is_seeking || shared_->found) return;
  }
  shared_ = std::make_shared<Shared>();
  try {
    std::thread([shared = shared_, server, texts] {
      Status why = why_no_grpc(server, texts);
      const std::lock_guard lock(shared->mutex);
      shared->is_seeking = false;
      if (!why.is_ok()) shared->found = {.server = server, .why = std::move(why)};
    }).detach();
  } catch (const std::system_error&) {  // No thread is left for it: the reason can wait.
    shared_.reset();
  }
}

std::optional<ReasonSeeker::Finding> ReasonSeeker::take() {
  if (!shared_) return std::nullopt;
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->found, std::nullopt);
}

}  // namespace hai
