#include "proto/convert/health_convert.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "proto/convert/agent_convert.h"
#include "proto/convert/agent_enums.h"
#include "proto/convert/limits.h"

namespace hai {

namespace {

constexpr size_t kChecksMax = 1'024;
constexpr size_t kSignsMax = 16;
constexpr size_t kSentenceBytes = 4'096;

CheckKind from_proto(const v1::CheckKind& message) {
  return {.is_latched = message.is_latched(),
          .is_shared = message.is_shared(),
          .is_of_gpus = message.is_of_gpus(),
          .cuts_network = message.cuts_network(),
          .counts_cuts = message.counts_cuts()};
}

void to_proto(const CheckKind& kind, v1::CheckKind& out) {
  out.set_is_latched(kind.is_latched);
  out.set_is_shared(kind.is_shared);
  out.set_is_of_gpus(kind.is_of_gpus);
  out.set_cuts_network(kind.cuts_network);
  out.set_counts_cuts(kind.counts_cuts);
}

Status from_proto(const v1::CheckResult& message, CheckResult& out) {
  RETURN_IF_ERROR(check_name("check name", message.name(), false));
  RETURN_IF_ERROR(check_size("check subject", message.subject().size(), AgentLimits::kNameBytes));
  RETURN_IF_ERROR(check_size("check summary", message.summary().size(), kSentenceBytes));
  RETURN_IF_ERROR(check_size("check evidence", message.evidence().size(), kEvidenceBytesMax));
  RETURN_IF_ERROR(check_unix_time("check at_us", message.at_us()));
  RETURN_IF_ERROR(kCheckVerdicts.from_proto(message.verdict(), out.verdict));
  RETURN_IF_ERROR(kHealthTiers.from_proto(message.tier(), out.tier));
  out.name = message.name();
  out.subject = message.subject();
  out.summary = message.summary();
  out.evidence = message.evidence();
  out.gpus = {message.gpus()};
  out.at = unix_micros(message.at_us());
  if (message.has_kind()) out.said_kind = from_proto(message.kind());
  return ok();
}

Status from_proto(const v1::Measurement& message, Measurement& out) {
  RETURN_IF_ERROR(check_name("test name", message.test(), false));
  RETURN_IF_ERROR(check_size("metric", message.metric().size(), AgentLimits::kNameBytes));
  RETURN_IF_ERROR(check_size("unit", message.unit().size(), AgentLimits::kNameBytes));
  RETURN_IF_ERROR(check_size("detail", message.detail().size(), kSentenceBytes));
  RETURN_IF_ERROR(kCheckVerdicts.from_proto(message.verdict(), out.verdict));
  if (!std::isfinite(message.value())) return invalid_argument("a measured value is no number");
  out.test = message.test();
  out.metric = message.metric();
  out.unit = message.unit();
  out.value = message.value();
  out.higher_is_better = message.higher_is_better();
  out.detail = message.detail();
  return ok();
}

}  // namespace

void to_proto(const std::vector<CheckResult>& checks, v1::CheckResults& out) {
  for (const CheckResult& check : checks) {
    v1::CheckResult& added = *out.add_checks();
    added.set_name(check.name);
    added.set_subject(check.subject);
    added.set_verdict(kCheckVerdicts.to_proto(check.verdict));
    added.set_tier(kHealthTiers.to_proto(check.tier));
    added.set_summary(check.summary);
    added.set_evidence(check.evidence);
    added.set_gpus(check.gpus.bits);
    added.set_at_us(to_micros(check.at));
    if (check.said_kind) to_proto(*check.said_kind, *added.mutable_kind());
  }
}

Status from_proto(const v1::CheckResults& message, std::vector<CheckResult>& out) {
  RETURN_IF_ERROR(
      check_size("checks of the report", static_cast<size_t>(message.checks_size()), kChecksMax));
  out.clear();
  for (const v1::CheckResult& check : message.checks()) {
    RETURN_IF_ERROR(from_proto(check, out.emplace_back()));
  }
  auto key = [](const CheckResult& check) { return std::tie(check.name, check.subject); };
  std::ranges::stable_sort(out, {}, key);
  const auto twice = std::ranges::unique(out, {}, key);
  out.erase(twice.begin(), twice.end());
  return ok();
}

void to_proto(const std::vector<GpuReading>& readings, v1::GpuReadings& out) {
  for (const GpuReading& reading : readings) {
    v1::GpuReading& gpu = *out.add_gpus();
    if (reading.utilization_percent) gpu.set_utilization_percent(*reading.utilization_percent);
    if (reading.temperature_celsius) gpu.set_temperature_celsius(*reading.temperature_celsius);
    if (reading.memory_percent) gpu.set_memory_percent(*reading.memory_percent);
    if (reading.power_watts) gpu.set_power_watts(*reading.power_watts);
  }
}

Status from_proto(const v1::GpuReadings& message, std::vector<GpuReading>& out) {
  RETURN_IF_ERROR(
      check_size("gpu_readings", static_cast<size_t>(message.gpus_size()), GpuSet::kMax));
  for (const v1::GpuReading& gpu : message.gpus()) {
    GpuReading& reading = out.emplace_back();
    if (gpu.has_utilization_percent()) {
      RETURN_IF_ERROR(check_range("utilization_percent", gpu.utilization_percent(), 0, 100));
      reading.utilization_percent = gpu.utilization_percent();
    }
    if (gpu.has_temperature_celsius()) {
      RETURN_IF_ERROR(check_range("temperature_celsius", gpu.temperature_celsius(), 0, 1'000));
      reading.temperature_celsius = gpu.temperature_celsius();
    }
    if (gpu.has_memory_percent()) {
      RETURN_IF_ERROR(check_range("memory_percent", gpu.memory_percent(), 0, 100));
      reading.memory_percent = gpu.memory_percent();
    }
    if (gpu.has_power_watts()) {
      RETURN_IF_ERROR(check_range("power_watts", gpu.power_watts(), 0, kGpuWattsMax));
      reading.power_watts = gpu.power_watts();
    }
  }
  return ok();
}

void to_proto(const HookResult& result, v1::HookResult& out) {
  out.set_id(result.id);
  out.set_exit_code(result.exit_code);
  out.set_message(result.message);
}

Status from_proto(const v1::HookResult& message, HookResult& out) {
  RETURN_IF_ERROR(check_size("hook message", message.message().size(), kSentenceBytes));
  out = {message.id(), message.exit_code(), message.message()};
  return ok();
}

void to_proto(const std::vector<RankSign>& signs, v1::RankStatus& out) {
  for (const RankSign& sign : signs) {
    v1::RankSign& added = *out.add_signs();
    added.set_kind(kHangSignKinds.to_proto(sign.kind));
    added.set_since_us(to_micros(sign.since));
  }
}

void to_proto(const std::vector<Measurement>& measurements, v1::RankStatus& out) {
  for (const Measurement& measurement : measurements) {
    v1::Measurement& added = *out.add_measurements();
    added.set_test(measurement.test);
    added.set_metric(measurement.metric);
    added.set_unit(measurement.unit);
    added.set_value(measurement.value);
    added.set_higher_is_better(measurement.higher_is_better);
    added.set_verdict(kCheckVerdicts.to_proto(measurement.verdict));
    added.set_detail(measurement.detail);
  }
}

Status health_from_proto(const v1::RankStatus& message, RankStatus& out) {
  RETURN_IF_ERROR(check_size("signs", static_cast<size_t>(message.signs_size()), kSignsMax));
  RETURN_IF_ERROR(check_size("measurements", static_cast<size_t>(message.measurements_size()),
                             kMeasurementsMax));
  for (const v1::RankSign& sign : message.signs()) {
    RETURN_IF_ERROR(check_unix_time("sign since_us", sign.since_us()));
    RankSign& added = out.signs.emplace_back();
    RETURN_IF_ERROR(kHangSignKinds.from_proto(sign.kind(), added.kind));
    added.since = unix_micros(sign.since_us());
  }
  if (message.has_word_at_us()) {
    RETURN_IF_ERROR(check_unix_time("word_at_us", message.word_at_us()));
    out.word_at = unix_micros(message.word_at_us());
  }
  if (message.has_gpu_percent()) {
    RETURN_IF_ERROR(check_range("gpu_percent", message.gpu_percent(), 0, 100));
    out.gpu_percent = message.gpu_percent();
  }
  for (const v1::Measurement& measurement : message.measurements()) {
    RETURN_IF_ERROR(from_proto(measurement, out.measurements.emplace_back()));
  }
  return ok();
}

}  // namespace hai
