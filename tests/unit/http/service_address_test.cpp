#include "server/http/service_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai {
namespace {

using testing::Eq;
using testing::Optional;

const ServicePlace kCut{.prefix = "/jobs/17/web", .is_cut_off = true};
const ServicePlace kWhole{.prefix = "/jobs/17/web", .is_cut_off = false};

TEST(ServiceAddress, NamesJobAndServiceAndLeavesTheRest) {
  const auto address = parse_service_address("/jobs/17/web/a/b?c=/d");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->job, "17");
  EXPECT_EQ(address->service, "web");
  EXPECT_EQ(address->rest, "/a/b?c=/d");
  EXPECT_EQ(parse_service_address("/jobs/my.job/8000/")->rest, "/");
  EXPECT_EQ(parse_service_address("/jobs/17/web")->rest, "");
  EXPECT_EQ(parse_service_address("/jobs/17/web?x")->service, "web");
  for (const char* none : {"/", "", "/jobs", "/jobs/", "/jobs/17", "/jobs/17/", "/jobs//web/",
                           "/jobs/17//x", "/job/17/web/", "jobs/17/web/", "/jobs/17/?x"}) {
    EXPECT_FALSE(parse_service_address(none)) << none;
  }
}

TEST(ServiceAddress, LinksOfAServiceStayBelowIt) {
  const auto outside = [](const char* location) {
    return location_outside(location, "hai:7781", kCut);
  };
  EXPECT_EQ(outside("/login?next=/"), "/jobs/17/web/login?next=/");
  EXPECT_EQ(outside("/"), "/jobs/17/web/");
  EXPECT_EQ(outside("/jobs/17/web/x"), "/jobs/17/web/x");
  EXPECT_EQ(outside("/jobs/17/website"), "/jobs/17/web/jobs/17/website");
  EXPECT_EQ(outside("http://hai:7781/x"), "/jobs/17/web/x");
  EXPECT_EQ(outside("https://hai:7781"), "/jobs/17/web/");
  EXPECT_EQ(outside("//hai:7781/x"), "/jobs/17/web/x");
  EXPECT_EQ(outside("https://other/x"), "https://other/x");
  EXPECT_EQ(outside("next"), "next");
  EXPECT_EQ(outside("?page=2"), "?page=2");
  EXPECT_EQ(location_outside("/jobs/17/web/x", "hai", kWhole), "/jobs/17/web/x");
  EXPECT_EQ(location_outside("http://hai/x", "hai", kWhole), "/x");
}

TEST(ServiceAddress, CookiesOfAServiceStayBelowItAndTakeNoNameOfHais) {
  const auto outside = [](const char* cookie, const ServicePlace& place = kCut) {
    return cookie_outside(cookie, place);
  };
  EXPECT_THAT(outside("a=1"), Optional(Eq("a=1; Path=/jobs/17/web/")));
  EXPECT_THAT(outside("a=1; Path=/x; Secure"), Optional(Eq("a=1; Secure; Path=/jobs/17/web/x")));
  EXPECT_THAT(outside("a=b=c;path=/jobs/17/web/y"), Optional(Eq("a=b=c; Path=/jobs/17/web/y")));
  EXPECT_THAT(outside("a=1; DOMAIN=hai.example; Path"), Optional(Eq("a=1; Path=/jobs/17/web/")));
  EXPECT_THAT(outside("a=1;\tDomain=example ;\tpath=/y"), Optional(Eq("a=1; Path=/jobs/17/web/y")));
  EXPECT_THAT(outside("a=1; Path=x"), Optional(Eq("a=1; Path=/jobs/17/web/")));
  EXPECT_THAT(outside("a=1; Path=/", kWhole), Optional(Eq("a=1; Path=/jobs/17/web/")));
  EXPECT_THAT(outside("a=1; Path=/jobs/17/web/z", kWhole),
              Optional(Eq("a=1; Path=/jobs/17/web/z")));
  for (const char* refused : {"hai_session=x", "\thai_session=x", "HAI_SESSION=x; Path=/",
                              " hai_other=1", "", "a", "=hai_session=x"}) {
    EXPECT_FALSE(outside(refused)) << refused;
  }
}

TEST(ServiceAddress, NoServiceSeesCookiesOfHais) {
  EXPECT_EQ(cookies_inside("a=1; hai_session=secret; b=2"), "a=1; b=2");
  EXPECT_EQ(cookies_inside("hai_session=secret"), "");
  EXPECT_EQ(cookies_inside("HAI_SESSION=secret;hai_ticket=x;c=3"), "c=3");
  EXPECT_EQ(cookies_inside("a=hai_session=x"), "a=hai_session=x");
}

}  // namespace
}  // namespace hai
