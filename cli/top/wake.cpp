#include "cli/top/wake.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "common/check.h"

namespace hai::cli::top {

Wake::Wake() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { CHECK(descriptor_ >= 0); }

Wake::~Wake() { close(descriptor_); }

void Wake::ring() const {
  constexpr uint64_t kOne = 1;
  // It fails only when it rings already.
  const ssize_t ignored = write(descriptor_, &kOne, sizeof kOne);
  static_cast<void>(ignored);
}

void Wake::quieten() const {
  uint64_t rings = 0;
  const ssize_t ignored = read(descriptor_, &rings, sizeof rings);
  static_cast<void>(ignored);
}

}  // namespace hai::cli::top
