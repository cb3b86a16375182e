#include "validator/ring/ring.h"

namespace hai::validator {

// As everywhere: the values in as many parts as ranks. In n − 1 steps each part goes once around
// and gathers its sum, in n − 1 more each sum goes around. So every link carries 2 (n − 1) / n of
// the values, however many ranks there are.
Status Ring::all_reduce(std::span<uint32_t> values, Duration patience) {
  const int count = ranks();
  if (count < 2) return ok();
  const Deadline deadline(patience);
  const auto part = [&](int index) {
    const auto at = static_cast<size_t>((index % count + count) % count);
    const size_t first = values.size() * at / static_cast<size_t>(count);
    const size_t end = values.size() * (at + 1) / static_cast<size_t>(count);
    return values.subspan(first, end - first);
  };
  received_.resize(values.size() / static_cast<size_t>(count) + 1);
  for (int step = 0; step < 2 * (count - 1); ++step) {
    const bool is_summing = step < count - 1;
    const std::span<uint32_t> out = part(rank_ - step);
    const std::span<uint32_t> in = part(rank_ - step - 1);
    uint32_t* into = is_summing ? received_.data() : in.data();
    RETURN_IF_ERROR(exchange({.to = right_.get(),
                              .send = reinterpret_cast<const char*>(out.data()),
                              .send_bytes = out.size_bytes(),
                              .from = left_.get(),
                              .receive = reinterpret_cast<char*>(into),
                              .receive_bytes = in.size_bytes()},
                             deadline));
    for (size_t i = 0; is_summing && i < in.size(); ++i) in[i] += received_[i];
  }
  return ok();
}

}  // namespace hai::validator
