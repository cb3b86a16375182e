#include "sim/trace/failures_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sim/trace/csv_reader.h"
#include "sim/trace/seconds.h"

namespace hai {
namespace {

enum Column { kNode, kStart, kEnd, kLevel, kClass, kDescription };
constexpr Duration kDay = 24h;
constexpr Duration kShortest = 1s;

}  // namespace

Failures::Failures(std::vector<Outage> outages, Duration span)
    : outages_(std::move(outages)), span_(span) {
  std::ranges::stable_sort(
      outages_, {}, [](const Outage& outage) { return std::pair(outage.start, outage.node); });
}

Outage Failures::next() {
  for (;; ++index_) {
    if (index_ == outages_.size()) index_ = 0, ++cycle_;
    Outage outage = outages_[index_];
    outage.start = std::max(Duration{0}, outage.start + cycle_ * span_);
    outage.end += cycle_ * span_;
    if (outage.end <= outage.start) continue;  // Over before time 0.
    ++index_;
    return outage;
  }
}

Result<Failures> read_failures(const std::string& path, int nodes, int servers) {
  auto opened =
      CsvReader::open(path, {{"node", "start_s", "end_s"}, {"level", "class", "desc", "repair_s"}});
  if (!opened.is_ok()) return opened.status();
  CsvReader& reader = *opened.value();
  std::vector<Outage> log;
  Duration span = kDay;
  while (reader.next()) {
    auto server = reader.number(kNode, 0, servers - 1);
    if (!server.is_ok()) return server.status();
    if (server.value() != std::floor(server.value()))
      return reader.error(fmt::format("node: must be a whole number, is {}", server.value()));
    auto start = reader.number(kStart, 0, kSecondsMax);
    if (!start.is_ok()) return start.status();
    auto end = reader.number(kEnd, 0, kSecondsMax);
    if (!end.is_ok()) return end.status();
    if (end.value() < start.value()) {
      return reader.error(
          fmt::format("end_s: {} is before start_s, {}", end.value(), start.value()));
    }
    std::string reason(!reader.field(kDescription).empty() ? reader.field(kDescription)
                       : !reader.field(kClass).empty()     ? reader.field(kClass)
                                                           : reader.field(kLevel));
    // A node that came back at once has still lost its ranks.
    Duration begin = of_seconds(start.value());
    log.push_back({static_cast<int>(server.value()), begin,
                   std::max(of_seconds(end.value()), begin + kShortest),
                   reason.empty() ? "failed" : reason});
    span = std::max(span, (log.back().end + kDay - Duration(1)) / kDay * kDay);
  }
  RETURN_IF_ERROR(reader.status());
  if (log.empty()) return invalid_argument("{}: there is no outage in it", path);
  int copies = (nodes + servers - 1) / servers;
  std::vector<Outage> outages;
  for (int copy = 0; copy < copies; ++copy) {
    for (const Outage& outage : log) {
      int node = copy * servers + outage.node;
      if (node >= nodes) continue;
      Duration start = (outage.start + copy * (span / copies)) % span;
      outages.push_back({node, start, start + (outage.end - outage.start), outage.reason});
    }
  }
  return Failures(std::move(outages), span);
}

}  // namespace hai
