#include "server/store/json_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/json/json_text.h"
#include "server/model/digest.h"
#include "tests/support/random_cluster.h"

namespace hai {
namespace {

using testing::HasSubstr;

std::set<std::string_view> round_trip(const std::vector<Event>& events) {
  std::set<std::string_view> kinds;
  for (const Event& event : events) {
    const std::string json = to_json(event.body);
    EXPECT_TRUE(nlohmann::json::accept(json)) << json;
    Event copy{event.seq, event.time, event.actor, {}};
    Result<EventBody> body = event_body_from_json(kind_of(event.body), json);
    EXPECT_TRUE(body.is_ok()) << body.status().message() << "\n" << json;
    if (!body.is_ok()) break;
    copy.body = body.value();
    EXPECT_EQ(digest(kDigestStart, copy), digest(kDigestStart, event)) << json;
    EXPECT_EQ(to_json(copy.body), json);
    kinds.insert(kind_of(event.body));
  }
  return kinds;
}

TEST(JsonCodec, RandomEventsRoundTripExactly) {
  std::set<std::string_view> kinds;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    test::RandomCluster cluster(seed);
    kinds.merge(round_trip(cluster.start_epoch(Epoch{1}).events));
    kinds.merge(round_trip(cluster.next_batch(Epoch{1}, 600).events));
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<EventBody>) << "the generator misses a kind";
}

TEST(JsonCodec, WritesWordsIdsTimesAndDurations) {
  const AttemptSuspending event{.job = JobId{17},
                                .attempt = 2,
                                .deadline = unix_micros(1'790'000'000'123'456),
                                .beneficiary = JobId{9},
                                .reason = "a \"b\"\n"};
  EXPECT_EQ(to_json(EventBody(event)),
            R"({"job":17,"attempt":2,"deadline":"2026-09-21T14:13:20.123456Z","beneficiary":9,)"
            R"("reason":"a \"b\"\n"})");
  const JobSpec spec{.name = "a", .priority = Priority::low, .suspend = {.grace = 1ms}};
  EXPECT_EQ(
      to_json(spec),
      R"({"name":"a","priority":"low","suspend":{"grace_us":1000,"signal":"","exit_code":85}})");
  EXPECT_EQ(to_json(JobSpec{}), "{}") << "what a spec leaves at its default is not written";
  const NodesReserved reserved{
      JobId{1}, {.placement = {{NodeId{3}, GpuSet{0b1011}}}, .priority = Priority::high}};
  EXPECT_THAT(to_json(EventBody(reserved)),
              HasSubstr(R"("placement":[{"node":3,"gpus":[0,1,3]}],"priority":"high")"));
}

TEST(JsonCodec, ExtremesSurvive) {
  JobSpec spec;
  spec.memory_per_node_bytes = INT64_MAX;
  spec.node_count = INT32_MIN;
  spec.begin_at = unix_micros(-1);
  spec.environments = {{"quote\"key", "v"}, {"", ""}};
  spec.tags = {"", "\xF0\x9F\x9A\x80"};
  Result<JobSpec> copy = job_spec_from_json(to_json(spec));
  ASSERT_TRUE(copy.is_ok()) << copy.status().message();
  EXPECT_EQ(copy.value(), spec);
}

TEST(JsonCodec, ReplacesWhatPostgresRefuses) {
  JobSpec spec;
  spec.name = std::string("a\0b", 3) + "\xFF\xC0\xAF\xED\xA0\x80";
  Result<JobSpec> copy = job_spec_from_json(to_json(spec));
  ASSERT_TRUE(copy.is_ok());
  EXPECT_TRUE(is_clean_utf8(copy.value().name));
  EXPECT_EQ(copy.value().name.substr(0, 1), "a");
  EXPECT_EQ(copy.value().name, clean_utf8(spec.name));
}

TEST(JsonCodec, ErrorsNameTheField) {
  const auto error = [](std::string_view kind, std::string_view json) {
    Result<EventBody> body = event_body_from_json(kind, json);
    EXPECT_FALSE(body.is_ok());
    EXPECT_EQ(body.status().code(), Code::invalid_argument);
    return body.status().message();
  };
  EXPECT_EQ(error("job_eaten", "{}"), "event kind job_eaten is not known");
  EXPECT_THAT(error("job_held", "{"), HasSubstr("bad JSON"));
  EXPECT_EQ(error("job_held", R"({"job":"x"})"), "job_held: job: expected an integer");
  EXPECT_EQ(error("job_held", "[]"), "job_held: expected an object");
  EXPECT_EQ(error("rank_ended", R"({"state":"gone"})"), "rank_ended: state: expected a known word");
  EXPECT_EQ(error("rank_ended", R"({"rank":99999999999})"),
            "rank_ended: rank: expected an integer");
  EXPECT_EQ(error("job_submitted", R"({"job":1})"), "job_submitted: spec: expected a spec");
  EXPECT_EQ(error("job_submitted", R"({"job":1,"spec":{"restart":{"max":true}}})"),
            "job_submitted: spec: restart: max: expected an integer");
}

TEST(JsonCodec, AbsentFieldsKeepTheirDefaultsAndUnknownOnesAreIgnored) {
  Result<JobSpec> spec = job_spec_from_json(R"({"name":"a","colour":"red","node_count":3})");
  ASSERT_TRUE(spec.is_ok());
  JobSpec expected;
  expected.name = "a";
  expected.node_count = 3;
  EXPECT_EQ(spec.value(), expected);
}

TEST(JsonCodec, MarksOfOldLogsSayWhatTheyAreAbout) {
  const auto read = [](const char* json) {
    return std::get<NodeMarked>(event_body_from_json("node_marked", json).value());
  };
  const NodeMarked old = read(R"({"node":2,"kind":"evict gpu_xid","cause":0})");
  EXPECT_EQ(old.kind, MarkKind::evict);
  EXPECT_EQ(old.about, "gpu_xid");
  EXPECT_EQ(read(R"({"node":2,"kind":"validation_failed","cause":0})").about, "");
  EXPECT_EQ(read(R"({"node":2,"kind":"drain","about":"mount","cause":0})").about, "mount");
  EXPECT_FALSE(event_body_from_json("node_marked", R"({"node":2,"cause":0})").is_ok())
      << "none of the kinds goes without saying: one is a pardon";
}

TEST(JsonCodec, AnOldCheckIsOfTheKindThatItsNameHas) {
  const auto read = [](const char* name) {
    const std::string json = fmt::format(
        R"({{"node":2,"check":{{"name":"{}","verdict":"fail","tier":"validate"}}}})", name);
    return std::get<NodeCheckChanged>(event_body_from_json("node_check_changed", json).value())
        .check;
  };
  EXPECT_TRUE(read("gpu_xid").kind().is_latched);
  EXPECT_FALSE(read("gpu_count").kind().is_latched);
  EXPECT_TRUE(read("mount").kind().is_shared);
}

TEST(JsonCodec, FieldsInAnyOrder) {
  // jsonb sorts keys its own way.
  const JobSpec spec{.name = "x", .priority = Priority::high, .tags = {"t"}};
  const auto reordered = nlohmann::json::parse(to_json(spec));
  EXPECT_EQ(job_spec_from_json(reordered.dump()).value(), spec);
}

TEST(TimeText, RoundTripsAndClamps) {
  for (int64_t micros : {int64_t{0}, int64_t{-1}, int64_t{1'790'000'000'000'001},
                         int64_t{-62'135'596'800'000'000}, int64_t{253'402'300'799'999'999}}) {
    std::string text;
    append_time(text, unix_micros(micros));
    EXPECT_EQ(parse_time(text), unix_micros(micros)) << text;
  }
  std::string text;
  append_time(text, UnixTime::max());
  EXPECT_EQ(text, "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(parse_time("2026-11-20 08:00:00.5+00"), parse_time("2026-11-20T08:00:00.500000Z"));
  for (const char* bad :
       {"", "2026", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-20T24:00:00Z",
        "2026-11-20T08:00:00", "2026-11-20T08:00:00+01"}) {
    EXPECT_EQ(parse_time(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace hai
