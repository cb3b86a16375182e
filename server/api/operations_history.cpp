// What happened over days and months.

#include <algorithm>

#include "server/api/answers.h"
#include "server/api/hour_counting.h"
#include "server/api/operations.h"
#include "server/api/queries.h"

namespace hai {

namespace {

constexpr Duration kDay = 24h;
constexpr Duration kRangeDefault = 7 * kDay;
constexpr Duration kHourlyUpTo = 14 * kDay;  // a longer range is by days, if nothing is said
constexpr int64_t kStepsMax = 2'400;

struct HistoryRange {
  UnixTime since{};
  UnixTime until{};
  Duration step = 1h;
};

Result<HistoryRange> history_range_of(const v1::GetHistoryRequest& request, UnixTime now) {
  HistoryRange range;
  const Result<UnixTime> until =
      request.has_until_us() ? asked_time("until", request.until_us()) : now;
  if (!until.is_ok()) return until.status();
  range.until = until.value();
  const Result<UnixTime> since = request.has_since_us() ? asked_time("since", request.since_us())
                                                        : range.until - kRangeDefault;
  if (!since.is_ok()) return since.status();
  range.since = since.value();
  if (range.since >= range.until) {
    return invalid_argument("since: {} is not before {}", format_rfc3339(range.since),
                            format_rfc3339(range.until));
  }
  const Duration length = range.until - range.since;
  if (request.step().empty()) {
    range.step = length <= kHourlyUpTo ? Duration(1h) : kDay;
  } else {
    const Result<Duration> step = parse_duration(request.step());
    if (!step.is_ok() ||
        (step.value() != Duration(1h) && step.value() != kDay && step.value() != 7 * kDay)) {
      return invalid_argument("step: 1h, 1d or 7d, is {}", request.step().substr(0, 100));
    }
    range.step = step.value();
  }
  if (length / range.step > kStepsMax) {
    return invalid_argument("{} steps of {}: at most {}; ask for a shorter range or longer steps",
                            length / range.step, format_duration(range.step), kStepsMax);
  }
  return range;
}

void add_row(const HourRow& row, v1::HistoryReport& out) {
  out.add_at_us(to_micros(row.at));
  const google::protobuf::Reflection& reflection = *out.GetReflection();
  const auto add = [&](std::string_view word, int64_t value) {
    reflection.AddInt64(&out, out.GetDescriptor()->FindFieldByName(std::string(word)), value);
  };
  for (size_t i = 0; i < kHourGpuWords.size(); ++i) {
    add(kHourGpuWords[i], row.gpu_seconds ? (*row.gpu_seconds)[i] : -1);
  }
  for (size_t i = 0; i < kHourCountWords.size(); ++i) add(kHourCountWords[i], row.counts[i]);
  const auto seconds = [](const std::optional<Duration>& wait) -> int64_t {
    return wait ? std::chrono::duration_cast<std::chrono::seconds>(*wait).count() : -1;
  };
  out.add_waits(row.waits);
  out.add_wait_p50_seconds(seconds(row.wait_p50));
  out.add_wait_p90_seconds(seconds(row.wait_p90));
}

void fill_history(const HourReport& report, Duration step, v1::HistoryReport& out) {
  out.set_step_seconds(step / Duration(1s));
  for (const HourRow& row : report.rows) add_row(row, out);
  if (report.counted_to) out.set_counted_to_us(to_micros(*report.counted_to));
  if (report.kept_from) out.set_kept_from_us(to_micros(*report.kept_from));
}

}  // namespace

Prepared<v1::HistoryReport> OperationBodies::GetHistory(const v1::GetHistoryRequest& request) {
  return [this, request](const Caller& caller, Answer<v1::HistoryReport> answer) {
    // Totals only: everybody known may see them.
    parts_.queries.controller().read(
        caller,
        [this, request, answer](const Controller::ReadContext&, const Actor&) {
          const Result<HistoryRange> asked = history_range_of(request, parts_.loop.wall_now());
          if (!asked.is_ok()) return answer(asked.status());
          const HistoryRange& range = asked.value();
          HourStore* store = parts_.hours.store();
          if (store == nullptr) return answer(unavailable("this server keeps no history"));
          store->report(
              range.since, range.until, range.step,
              answer_with<HourReport>(
                  answer, [step = range.step](const HourReport& report, v1::HistoryReport& reply) {
                    fill_history(report, step, reply);
                  }));
        },
        [answer](const Status& status) { answer(status); });
  };
}

}  // namespace hai
