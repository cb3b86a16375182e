#include "sim/trace/trace_report.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "sim/trace/seconds.h"

namespace hai {
namespace {

using Json = nlohmann::ordered_json;

Json quantiles(const Distribution& distribution) {
  return {{"mean", distribution.mean},
          {"p50", distribution.p50},
          {"p90", distribution.p90},
          {"p99", distribution.p99}};
}

std::string row(std::string_view name, const std::string& value, std::string_view note = "") {
  return note.empty() ? fmt::format("{:<20}{}\n", name, value)
                      : fmt::format("{:<20}{:<14}{}\n", name, value, note);
}

std::string percent(double share) { return fmt::format("{:.2f} %", share * 100); }

std::string times_row(std::string_view name, const Distribution& d, const std::string& max) {
  return fmt::format("{:<20}{:>10} {:>10} {:>10} {:>10} {:>10}\n", name, human_time(d.mean),
                     human_time(d.p50), human_time(d.p90), human_time(d.p99), max);
}

std::string number_row(std::string_view name, const Distribution& d) {
  return fmt::format("{:<20}{:>10.2f} {:>10.2f} {:>10.1f} {:>10.1f} {:>10.0f}\n", name, d.mean,
                     d.p50, d.p90, d.p99, d.max);
}

}  // namespace

std::string human_time(double seconds) {
  if (seconds >= 2 * 86'400) return fmt::format("{:.1f} d", seconds / 86'400);
  if (seconds >= 2 * 3'600) return fmt::format("{:.1f} h", seconds / 3'600);
  if (seconds >= 120) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.0f} s", seconds);
}

std::string to_json(const TraceReport& report) {
  const Measures& m = report.result.measures;
  const Distribution plan = distribution_of(report.result.plan.pass_ms);
  Json json = {
      {"policy", report.policy},
      {"cluster", report.cluster},
      {"trace", report.trace},
      {"failures", report.failures},
      {"seed", report.seed},
      {"jobs", report.jobs},
      {"completed", m.completed},
      {"failed", m.failed},
      {"refused", report.result.refused},
      {"skipped", {{"unknown_duration", report.unknown_duration}, {"too_large", report.too_large}}},
      {"makespan_s", seconds(m.makespan)},
      {"utilization", m.utilization},
      {"demand_satisfied", m.demand_satisfied},
      {"jct_s", quantiles(m.jct_s)},
      {"wait_s", quantiles(m.wait_s)},
      {"max_wait_s", m.wait_s.max},
      {"slowdown", quantiles(m.slowdown)},
      {"short_job_slowdown",
       {{"mean", m.short_job_slowdown.mean}, {"p99", m.short_job_slowdown.p99}}},
      {"preemptions", m.preemptions},
      {"requeues", m.requeues},
      {"given_gpu_hours", m.given_gpu_hours},
      {"lost_gpu_hours", m.lost_gpu_hours},
      {"lost_when_asked_gpu_hours", m.lost_when_asked_gpu_hours},
      {"switch_gpu_hours", m.switch_gpu_hours},
      {"switch_share", m.switch_share},
      {"cross_zone_max", m.cross_zone_max},
      {"crossing_pairs_max", m.crossing_pairs_max},
      {"plan_ms", {{"p50", plan.p50}, {"p99", plan.p99}, {"max", plan.max}}},
      {"plan_s", report.result.plan.total_s},
      {"passes", report.result.plan.pass_ms.size()},
      {"events", m.events},
      {"digest", fmt::format("{:016x}", m.digest)},
      {"wall_s", report.wall_s},
      {"peak_rss_mb", report.peak_rss_mb},
  };
  return json.dump(2) + "\n";
}

std::string to_table(const TraceReport& report) {
  const Measures& m = report.result.measures;
  const Distribution plan = distribution_of(report.result.plan.pass_ms);
  std::string out;
  out += row("policy", report.policy);
  out += row("cluster", fmt::format("{}, {} GPUs", report.cluster, report.gpus));
  out += row("jobs", fmt::format("{}: {} succeeded, {} failed, {} refused", report.jobs,
                                 m.completed, m.failed, report.result.refused));
  if (report.unknown_duration + report.too_large > 0) {
    out += row("left out", fmt::format("{} of unknown duration, {} larger than the cluster",
                                       report.unknown_duration, report.too_large));
  }
  out += row("makespan", human_time(seconds(m.makespan)));
  out += row("utilization", percent(m.utilization), "of healthy GPU time until the last submit");
  out += row("demand_satisfied", percent(m.demand_satisfied),
             "of healthy GPU time while demand >= capacity");
  out += fmt::format("{:<20}{:>10} {:>10} {:>10} {:>10} {:>10}\n", "", "mean", "p50", "p90", "p99",
                     "max");
  out += times_row("jct", m.jct_s, human_time(m.jct_s.max));
  out += times_row("wait", m.wait_s, human_time(m.wait_s.max));
  out += number_row("slowdown", m.slowdown);
  out += number_row("short_job_slowdown", m.short_job_slowdown);
  out += row("preemptions", fmt::format("{}", m.preemptions));
  out += row("requeues", fmt::format("{}", m.requeues));
  out += row("lost", fmt::format("{:.0f} GPU-h", m.lost_gpu_hours),
             fmt::format("{:.0f} of them by suspensions", m.lost_when_asked_gpu_hours));
  out += row("switching", fmt::format("{:.0f} GPU-h", m.switch_gpu_hours),
             "saving when asked, and coming back from it");
  out += row("switch_share", percent(m.switch_share), "(switching + lost) / given");
  out += row("cross_zone_max", fmt::format("{}", m.cross_zone_max),
             fmt::format("crossing_pairs_max {}", m.crossing_pairs_max));
  out += row("passes", fmt::format("{}", report.result.plan.pass_ms.size()),
             fmt::format("p50 {:.3f} ms, p99 {:.3f} ms, max {:.1f} ms, {:.1f} s in all", plan.p50,
                         plan.p99, plan.max, report.result.plan.total_s));
  out += row("digest", fmt::format("{:016x}", m.digest));
  out += row("wall", fmt::format("{:.1f} s", report.wall_s),
             fmt::format("peak {:.0f} MB", report.peak_rss_mb));
  return out;
}

}  // namespace hai
