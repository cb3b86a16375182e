#include "validator/report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "validator/place.h"

namespace hai::validator {
namespace {

TEST(ValidatorReport, IsOneLineOfJson) {
  const Report report{.node = "node-1",
                      .model = "EPYC x128",
                      .profile = "quick",
                      .seconds = 1.23456,
                      .measurements = {{.test = "cpu",
                                        .metric = "compute_rate",
                                        .unit = "GFLOP/s",
                                        .value = 2.5,
                                        .detail = "two\nlines"},
                                       {.test = "x", .metric = "nan", .value = std::nan("")},
                                       skipped({"gemm", "slowest_gpu"}, "no GPU")}};
  EXPECT_EQ(
      format_json(report),
      R"({"node":"node-1","model":"EPYC x128","profile":"quick","verdict":"ok","seconds":1.235,"tests":[)"
      R"({"name":"cpu","metric":"compute_rate","unit":"GFLOP/s","value":2.5,"higher_is_better":true,)"
      R"("verdict":"ok","detail":"two\nlines"},)"
      R"({"name":"x","metric":"nan","unit":"","value":null,"higher_is_better":true,"verdict":"ok","detail":""},)"
      R"({"name":"gemm","metric":"slowest_gpu","unit":"","value":null,"higher_is_better":true,)"
      R"("verdict":"skipped","detail":"no GPU"}]})");
}

TEST(ValidatorReport, FailsIfAnythingFailed) {
  Report report{.measurements = {skipped({"gemm", ""}, ""), {.test = "cpu"}}};
  EXPECT_EQ(verdict_of(report), Verdict::ok);
  report.measurements.push_back(failed({"storage", ""}, "read error"));
  EXPECT_EQ(verdict_of(report), Verdict::fail);
  report.measurements = {skipped({"gemm", ""}, "")};
  EXPECT_EQ(verdict_of(report), Verdict::skipped);
}

using Variables = std::map<std::string, std::string>;

Result<Place> place_in(const Variables& variables) {
  return read_place(
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::string() : found->second;
      },
      "this-host");
}

TEST(ValidatorPlace, IsTheRankOfTheJob) {
  const Result<Place> place = place_in({{"HAI_NODE_NAME", "node-3"},
                                        {"HAI_JOB_ID", "17"},
                                        {"HAI_ATTEMPT", "2"},
                                        {"HAI_NODE_RANK", "3"},
                                        {"HAI_NNODES", "4"},
                                        {"MASTER_ADDR", "node-0"},
                                        {"MASTER_PORT", "2345"}});
  ASSERT_TRUE(place.is_ok());
  EXPECT_EQ(place.value().node, "node-3");
  EXPECT_EQ(place.value().rank, 3);
  EXPECT_EQ(place.value().ranks, 4);
  EXPECT_EQ(place.value().master_address, "node-0");
  EXPECT_EQ(place.value().master_port, 2345);
}

TEST(ValidatorPlace, IsThisHostOutsideOfAJob) {
  const Result<Place> place = place_in({});
  ASSERT_TRUE(place.is_ok());
  EXPECT_EQ(place.value().node, "this-host");
  EXPECT_EQ(place.value().ranks, 1);
}

TEST(ValidatorPlace, RefusesWhatCannotBe) {
  const std::pair<Variables, std::string> cases[] = {
      {{{"HAI_NNODES", "four"}}, "HAI_NNODES=four is no number"},
      {{{"HAI_NNODES", "2"}, {"HAI_NODE_RANK", "2"}}, "HAI_NODE_RANK=2 of HAI_NNODES=2"},
      {{{"HAI_NNODES", "2"}}, "HAI_NNODES=2 needs MASTER_ADDR and MASTER_PORT"},
      {{{"LOCAL_WORLD_SIZE", "8"}}, "8 processes per node: launch one (options.launch: per_node)"}};
  for (const auto& [variables, text] : cases) {
    const Result<Place> place = place_in(variables);
    ASSERT_FALSE(place.is_ok()) << text;
    EXPECT_EQ(place.status().message(), text);
  }
}

}  // namespace
}  // namespace hai::validator
