#include "validator/rank_exchange.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "validator/ring/ring.h"
#include "validator/stopwatch.h"

namespace hai::validator {

namespace {

constexpr int kSmallRounds = 200;

uint32_t value_at(size_t index) { return static_cast<uint32_t>(index) * 2654435761u ^ 0x5bd1e995u; }
// Odd and far apart, so that no rank's share can stand for another's.
uint32_t weight_of(int rank) { return static_cast<uint32_t>(rank + 1) * 0x9e3779b1u | 1; }

uint32_t weight_of_all(int ranks) {
  uint32_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += weight_of(rank);
  return sum;
}

struct Round {
  double seconds = 0;
  size_t wrong = 0;
  size_t first_wrong = 0;
};

Result<Round> one_round(Ring& ring, std::vector<uint32_t>& values, uint32_t salt,
                        Duration patience) {
  const uint32_t own = weight_of(ring.rank()) * (2 * salt + 1);
  const uint32_t all = weight_of_all(ring.ranks()) * (2 * salt + 1);
  for (size_t i = 0; i < values.size(); ++i) values[i] = value_at(i) * own;
  // Nobody's clock starts before everybody is ready.
  uint32_t ready = 0;
  RETURN_IF_ERROR(ring.all_reduce({&ready, 1}, patience));
  const Stopwatch watch;
  RETURN_IF_ERROR(ring.all_reduce(values, patience));
  Round round{.seconds = watch.seconds()};
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != value_at(i) * all && round.wrong++ == 0) round.first_wrong = i;
  }
  return round;
}

// All ranks must agree to go on, or one would wait for the others.
Result<bool> goes_on(Ring& ring, bool wants, Duration patience) {
  uint32_t wanting = wants ? 1 : 0;
  RETURN_IF_ERROR(ring.all_reduce({&wanting, 1}, patience));
  return wanting == static_cast<uint32_t>(ring.ranks());
}

Result<double> median_latency(Ring& ring, Duration patience) {
  std::vector<double> seconds;
  for (int i = 0; i < kSmallRounds; ++i) {
    uint32_t value = 1;
    const Stopwatch watch;
    RETURN_IF_ERROR(ring.all_reduce({&value, 1}, patience));
    seconds.push_back(watch.seconds());
    if (value != static_cast<uint32_t>(ring.ranks()))
      return Status(Code::data_loss, fmt::format("{} ranks counted as {}", ring.ranks(), value));
  }
  std::nth_element(seconds.begin(), seconds.begin() + kSmallRounds / 2, seconds.end());
  return seconds[kSmallRounds / 2];
}

Measurement failed_exchange(const Status& status) {
  return failed({"allreduce", "ranks_bandwidth"}, status.message());
}

std::vector<Measurement> measure(Ring& ring, const Settings& settings) {
  const int64_t bytes = settings.exchange_bytes > 0 ? settings.exchange_bytes
                                                    : int64_t{settings.is_quick ? 16 : 256} << 20;
  std::vector<uint32_t> values(static_cast<size_t>(bytes) / sizeof(uint32_t));
  const Stopwatch total;
  double best = 0;
  int rounds = 0;
  while (true) {
    const Result<Round> round =
        one_round(ring, values, static_cast<uint32_t>(rounds), settings.patience);
    if (!round.is_ok()) return {failed_exchange(round.status())};
    if (round.value().wrong > 0)
      return {failed_exchange(
          {Code::data_loss,
           fmt::format("round {}: {} of {} sums wrong, the first at {}", rounds,
                       round.value().wrong, values.size(), round.value().first_wrong)})};
    // The first opens the windows of the connections.
    if (rounds == 1 || (rounds > 1 && round.value().seconds < best)) best = round.value().seconds;
    ++rounds;
    const bool wants = rounds < 3 || !total.is_over(settings.seconds);
    const Result<bool> more = goes_on(ring, wants, settings.patience);
    if (!more.is_ok()) return {failed_exchange(more.status())};
    if (!more.value()) break;
  }
  const Result<double> latency = median_latency(ring, settings.patience);
  if (!latency.is_ok()) return {failed_exchange(latency.status())};
  const double share = 2.0 * (ring.ranks() - 1) / ring.ranks();
  const std::string who = fmt::format("{} ranks: {}", ring.ranks(), fmt::join(ring.nodes(), ","));
  // How far the number depends on how many ranks there are: the metric says it, so that only alike
  // is compared.
  return {{.test = "allreduce",
           .metric = fmt::format("ranks_bandwidth_{}", ring.ranks()),
           .unit = "GB/s",
           .value = static_cast<double>(bytes) * share / best / 1e9,
           .detail = fmt::format("{}, {} MiB, best of {} rounds, every sum right", who, bytes >> 20,
                                 rounds)},
          {.test = "allreduce",
           .metric = fmt::format("ranks_latency_{}", ring.ranks()),
           .unit = "us",
           .value = latency.value() * 1e6,
           .higher_is_better = false,
           .detail = "4 bytes, median"}};
}

}  // namespace

std::vector<Measurement> exchange_between_ranks(const Settings& settings) {
  if (settings.place.ranks < 2)
    return {skipped({"allreduce", "ranks_bandwidth"}, "the job has one rank")};
  Result<Ring> ring = Ring::join(settings.place, settings.patience);
  if (!ring.is_ok()) return {failed_exchange(ring.status())};
  return measure(ring.value(), settings);
}

}  // namespace hai::validator
