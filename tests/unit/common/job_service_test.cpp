#include "common/job_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using ServiceKind = JobService::Kind;

TEST(JobServices, SayNamePortAndWhatElseIsSaid) {
  const struct {
    std::string text;
    JobService service;
    std::string shown;
  } kCases[] = {
      {"web:8000", {"web", 8000, 0, ServiceKind::http, false}, "web:8000"},
      {"lab:1:keep_path:rank=3", {"lab", 1, 3, ServiceKind::http, true}, "lab:1:keep_path:rank=3"},
      {"lab:1:rank=3:keep_path", {"lab", 1, 3, ServiceKind::http, true}, "lab:1:keep_path:rank=3"},
      {"a-1:65535:tcp", {"a-1", 65535, 0, ServiceKind::tcp, false}, "a-1:65535:tcp"},
      {"8000", {"8000", 8000, 0, ServiceKind::http, false}, "8000"},
  };
  for (const auto& each : kCases) {
    const Result<JobService> service = parse_service(each.text);
    ASSERT_TRUE(service.is_ok()) << each.text << ": " << service.status().message();
    EXPECT_EQ(service.value(), each.service) << each.text;
    EXPECT_EQ(to_string(service.value()), each.shown);
    EXPECT_EQ(parse_service(each.shown).value(), each.service);
  }
}

TEST(JobServices, WhatIsNoneIsRefusedAndSaysWhy) {
  const std::pair<std::string, std::string> kCases[] = {
      {"", "must be NAME:PORT, the name of"},
      {"web", "web: must be NAME:PORT, the port 1..65535, as web:8888"},
      {"web:", "the port 1..65535"},
      {"web:0", "the port 1..65535"},
      {"web:65536", "the port 1..65535"},
      {"web: 80", "the port 1..65535"},
      {"70000", "70000: must be NAME:PORT, the port 1..65535, as web:8888"},
      {"Web:80", "the name of a-z, 0-9 and -"},
      {"-a:80", "the name of"},
      {"a-:80", "the name of"},
      {"a/b:80", "the name of"},
      {std::string(64, 'a') + ":80", "up to 63"},
      {"web:80:udp", "'udp' is none of tcp, keep_path, rank=N"},
      {"web:80:rank=-1", "none of"},
      {"web:80:rank=", "none of"},
      {"web:80:tcp:keep_path", "keep_path is of HTTP"},
  };
  for (const auto& [text, why] : kCases) {
    const Result<JobService> service = parse_service(text);
    ASSERT_FALSE(service.is_ok()) << text;
    EXPECT_THAT(service.status().message(), HasSubstr(why)) << text;
  }
}

TEST(JobServices, AreFoundByNameAndOtherPortsByNumber) {
  const std::vector<std::string> services = {"web:8000:rank=1", "odd text", "8000:tcp"};
  EXPECT_EQ(find_service(services, "web").value().rank, 1);
  EXPECT_EQ(find_service(services, "8000").value().kind, ServiceKind::tcp);
  EXPECT_EQ(find_service(services, "9000").value().port, 9000);
  EXPECT_EQ(find_service(services, "lab").status().message(),
            "it has no service lab, but web, 8000");
  EXPECT_THAT(find_service({}, "lab").status().message(), HasSubstr("has no services"));
  EXPECT_FALSE(find_service(services, "").is_ok());
  EXPECT_FALSE(find_service(services, "99999").is_ok());
}

TEST(JobServices, TellTheProgramsOfThem) {
  EXPECT_THAT(service_environment({"my-web:80", "raw:81:tcp", "none"}, JobId{17}),
              ElementsAre(Pair("HAI_SERVICE_MY_WEB_PORT", "80"),
                          Pair("HAI_SERVICE_MY_WEB_PATH", "/jobs/17/my-web/"),
                          Pair("HAI_SERVICE_RAW_PORT", "81")));
}

}  // namespace
}  // namespace hai
