// What programs read of a replay: the words of the design.

#include "sim/trace/trace_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hai::test {
namespace {

TraceReport some_report() {
  TraceReport report{
      .policy = "easy", .cluster = "2x8", .trace = "t<&>.csv", .jobs = 3, .gpus = 16};
  report.result.measures.makespan = 90s;
  report.result.measures.jct_s = {.mean = 5, .p50 = 4, .p90 = 8, .p99 = 9, .max = 9};
  report.result.plan.pass_ms = {1, 2, 3};
  report.result.series.add(0s, 90s, {.given = 8, .healthy = 16, .waiting = 0, .queue = 0});
  return report;
}

TEST(TraceReport, JsonHasTheWordsOfTheDesign) {
  auto json = nlohmann::json::parse(to_json(some_report()));
  for (const char* key : {"jobs",
                          "completed",
                          "makespan_s",
                          "utilization",
                          "demand_satisfied",
                          "jct_s",
                          "wait_s",
                          "slowdown",
                          "preemptions",
                          "lost_gpu_hours",
                          "switch_share",
                          "cross_zone_max",
                          "plan_ms",
                          "passes",
                          "digest",
                          "wall_s",
                          "peak_rss_mb",
                          "policy",
                          "max_wait_s",
                          "short_job_slowdown",
                          "switch_gpu_hours",
                          "requeues",
                          "crossing_pairs_max"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (const char* key : {"mean", "p50", "p90", "p99"}) {
    EXPECT_TRUE(json["jct_s"].contains(key) && json["wait_s"].contains(key) &&
                json["slowdown"].contains(key))
        << key;
  }
  EXPECT_EQ(json["jct_s"]["p90"], 8);
  EXPECT_EQ(json["makespan_s"], 90);
  EXPECT_EQ(json["plan_ms"]["max"], 3);
  EXPECT_EQ(json["passes"], 3);
}

TEST(TraceReport, TheChartIsPlainSvg) {
  std::string svg = to_chart(some_report());
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg.substr(0, 40);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace hai::test
