#include "server/api/audit_trail.h"
#include "server/api/audit_words.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "proto/json/call_options.h"
#include "server/api/caller_board.h"
#include "sim/virtual_loop.h"
#include "tests/support/builders.h"
#include "tests/support/kept_audit.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Ann and bob are known, each by a token; time passes when the test says so.
struct Trail : ::testing::Test {
  Timeline timeline;
  VirtualLoop loop{timeline};
  Cluster c = cluster(nodes(1, gpus(8)));
  CallerBoard callers{[this] { return loop.wall_now(); }};
  KeptAudit log{loop};
  AuditTrail trail{loop, callers, &log, [this] { return loop.wall_now(); }};

  Trail() {
    c.emit(UserSet{{.name = "ann"}});
    c.emit(UserSet{{.name = "bob"}});
    c.emit(TokenSet{{.hash = "0123456789abcdef", .user = "ann"}});
    c.emit(TokenSet{{.hash = "fedcba9876543210", .user = "bob"}});
    Event event;
    event.body = EpochStarted{Epoch{2}};
    callers.follow({event}, c.state());
  }
  void pass(Duration time) { timeline.run_until(timeline.now() + time); }
  void note(const std::string& hash, const std::string& call, const Status& status,
            const std::string& target = "", const std::string& address = "10.0.0.7") {
    trail.note({.caller = {.token_hash = hash},
                .address = address,
                .name = call,
                .facts = {.target = target}},
               status);
  }
  void submit(int64_t job) {
    AuditFacts facts;
    v1::SubmitJobReply reply;
    reply.set_job_id(job);
    tell_reply(reply, facts);
    trail.note({.caller = {.token_hash = "0123456789abcdef"},
                .address = "10.0.0.7",
                .name = "SubmitJob",
                .facts = facts},
               ok());
  }
  // "user call target result: detail" of each.
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const AuditEntry& entry : log.entries()) {
      lines.push_back(fmt::format("{} {} {} {}: {}", entry.user, entry.call, entry.target,
                                  entry.result, entry.detail));
    }
    return lines;
  }
};

TEST_F(Trail, SaysWhoByWhichTokenFromWhere) {
  note("0123456789abcdef", "MoveJob", ok(), "job/7");
  pass(1ms);
  ASSERT_THAT(log.entries(), SizeIs(1));
  const AuditEntry entry = log.entries()[0];
  EXPECT_EQ(entry, (AuditEntry{.at = entry.at,
                               .user = "ann",
                               .token = "0123456789ab",
                               .address = "10.0.0.7",
                               .call = "MoveJob",
                               .target = "job/7",
                               .result = "ok",
                               .detail = ""}));
}

TEST_F(Trail, KeepsChangesAndRefusalsAndLeavesReadsOut) {
  note("0123456789abcdef", "GetJob", ok());
  note("0123456789abcdef", "GetJob", not_found("job 9"));
  note("0123456789abcdef", "DryRunJob", ok());
  note("0123456789abcdef", "GetJob", permission_denied("not yours"), "job/9");
  note("0123456789abcdef", "SetUser", invalid_argument("no such role"), "user/bob");
  note("0123456789abcdef", "ReadLog", ok(), "job/9");
  pass(1ms);
  EXPECT_THAT(lines(), ElementsAre("ann GetJob job/9 permission_denied: not yours",
                                   "ann SetUser user/bob invalid_argument: no such role",
                                   "ann ReadLog job/9 ok: "));
}

TEST_F(Trail, AStrangerIsOneEntryAMinute) {
  for (int i = 0; i < 500; ++i) note("x", "GetJob", unauthenticated("not known"));
  pass(1s);
  ASSERT_THAT(lines(), SizeIs(1));
  for (int minute = 0; minute < 3; ++minute) {
    pass(60s);
    for (int i = 0; i < 500; ++i) note("x", "SetUser", unauthenticated("not known"));
  }
  pass(60s);
  ASSERT_THAT(lines(), SizeIs(5));
  EXPECT_EQ(lines()[1], " GetJob  unauthenticated: not known; and 498 more");
  EXPECT_EQ(lines()[2], " SetUser  unauthenticated: not known; and 499 more");
  pass(10min);
  note("x", "GetJob", unauthenticated("not known"));
  pass(1ms);
  ASSERT_THAT(lines(), SizeIs(6));
  EXPECT_EQ(lines()[5], " GetJob  unauthenticated: not known") << "at once after a quiet time";
}

// gRPC takes any name for a call.
TEST_F(Trail, AStrangerWhoTakesTheServersNameHidesNothingOfTheServer) {
  const std::string name(kUnixGroupsCall);
  for (int i = 0; i < 500; ++i) note("x", name, unauthenticated("not known"));
  const AuditedCall own{.caller = {.is_server = true},
                        .address = "",
                        .name = kUnixGroupsCall,
                        .facts = {.target = "user/ann"}};
  for (int i = 0; i < 3; ++i) trail.note(own, unavailable("the database is away"));
  trail.note(own, unauthenticated("not known"));
  pass(1s);
  const std::string said = " unix_groups user/ann unavailable: the database is away";
  EXPECT_THAT(lines(), ElementsAre(" unix_groups  unauthenticated: not known", said, said, said,
                                   " unix_groups user/ann unauthenticated: not known"));
}

TEST(AuditedCalls, OfGrpcHaveNoNamesThatAreMadeUp) {
  EXPECT_EQ(audited_name("/hai.v1.Api/GetJob"), "GetJob");
  EXPECT_EQ(audited_name("/hai.v1.Shells/Open"), kShellCall);
  for (const char* made_up : {"/x/unix_groups", "/hai.v1.Api/unix_groups", "/x/GetJob", "/GetJob",
                              "/hai.v1.Api/", "GetJob", "/x/hai.v1.Api/GetJob", "/", ""}) {
    EXPECT_EQ(audited_name(made_up), kUnknownCall) << made_up;
  }
}

TEST_F(Trail, AMillionAddressesFillNothing) {
  for (int i = 0; i < 50'000; ++i) {
    note("x", "GetJob", unauthenticated("not known"), "", fmt::format("10.0.{}.{}", i / 200, i));
  }
  pass(61s);
  const std::vector<AuditEntry> entries = log.entries();
  EXPECT_THAT(entries, SizeIs(AuditTrail::kStrangersMax + 2));
  EXPECT_EQ(entries.back().address, "*");
  EXPECT_THAT(entries.back().detail, EndsWith("and 48998 more"));
}

// Whoever has an IPv6 network has 2^64 addresses in it: he is one stranger, with gRPC's brackets
// and without, and so is an IPv4 address that is written as IPv6.
TEST_F(Trail, AnIpv6NetworkIsOneStranger) {
  for (int i = 0; i < 1'000; ++i) {
    const char* form = i % 2 == 0 ? "2001:db8:1:2::{:x}" : "[2001:db8:1:2:{:x}::1]";
    note("x", "GetJob", unauthenticated("not known"), "", fmt::format(fmt::runtime(form), i));
  }
  note("x", "GetJob", unauthenticated("not known"), "", "2001:db8:1:3::1");
  for (const char* address : {"::ffff:10.0.0.7", "10.0.0.7"}) {
    note("x", "GetJob", unauthenticated("not known"), "", address);
  }
  const char* both = "[2001:db8:1:2::{:x}] or 10.0.0.7";  // two machines that may have been it
  for (int i = 0; i < 100; ++i) {
    note("x", "GetJob", unauthenticated("not known"), "", fmt::format(fmt::runtime(both), i));
  }
  pass(1s);
  std::vector<std::string> addresses;
  for (const AuditEntry& entry : log.entries()) addresses.push_back(entry.address);
  EXPECT_THAT(addresses, ElementsAre("2001:db8:1:2::0", "2001:db8:1:3::1", "::ffff:10.0.0.7",
                                     "[2001:db8:1:2::0] or 10.0.0.7"));
}

TEST_F(Trail, ManyRefusalsOfOnePersonAreCounted) {
  for (int i = 0; i < 100; ++i) {
    note("fedcba9876543210", "ControlJob", permission_denied("job {} is ann's", i));
  }
  note("fedcba9876543210", "SetUser", permission_denied("for admins"));
  pass(1s);
  EXPECT_THAT(lines(), SizeIs(AuditTrail::kRefusalsPerMinute + 1));
  pass(60s);
  EXPECT_EQ(lines().back(), "bob ControlJob  permission_denied: job 99 is ann's; and 39 more");
}

// 21,600 reads of one job, its number with ever more zeros, made the names of others "*".
TEST_F(Trail, OnePersonsReadsLeaveOthersTheirNames) {
  constexpr size_t kShare = AuditTrail::kReadsOfOneMax;
  constexpr size_t kReads = AuditTrail::kWindowsMax + 5'000;
  for (size_t i = 0; i < kReads; ++i) {
    note("0123456789abcdef", "GetJobSpec", ok(), fmt::format("job/{}", i));
  }
  note("fedcba9876543210", "SetUser", permission_denied("for admins"), "user/ann");
  note("fedcba9876543210", "ReadLog", ok(), "job/7");
  pass(1s);
  ASSERT_THAT(lines(), SizeIs(kShare + 3));
  EXPECT_EQ(lines()[kShare - 1], "ann GetJobSpec job/499 ok: ");
  EXPECT_EQ(lines()[kShare], "ann GetJobSpec * ok: ");
  EXPECT_EQ(lines()[kShare + 1], "bob SetUser user/ann permission_denied: for admins");
  EXPECT_EQ(lines()[kShare + 2], "bob ReadLog job/7 ok: ");
  pass(60s);
  EXPECT_EQ(lines().back(), fmt::format("ann GetJobSpec * ok: and {} more", kReads - kShare - 2));
  pass(120s);
  note("0123456789abcdef", "GetJobSpec", ok(), "job/1000");
  pass(1s);
  EXPECT_EQ(lines().back(), "ann GetJobSpec job/1000 ok: ") << "her share has come back";
}

TEST_F(Trail, SubmitsWithinASecondAreOneEntry) {
  for (int64_t job = 1; job <= 20'000; ++job) submit(job);
  pass(1500ms);
  for (int64_t job = 20'001; job <= 20'010; ++job) submit(job);
  pass(10s);
  EXPECT_THAT(lines(),
              ElementsAre("ann SubmitJob job/1 ok: ", "ann SubmitJob job/2-20000 ok: 19999 jobs",
                          "ann SubmitJob job/20001-20010 ok: 10 jobs"));
}

TEST_F(Trail, OfManyThingsAtOnceEachEndIsTold) {
  v1::ControlJobReply reply;
  for (int job = 1; job <= 3; ++job) {
    v1::ControlResult* result = reply.add_results();
    result->set_job_id(job);
    if (job == 2) result->set_code(v1::CODE_PERMISSION_DENIED);
    if (job == 2) result->set_message("job 2 belongs to ann");
  }
  v1::ControlJobRequest request;
  request.set_action(v1::JOB_ACTION_STOP);
  request.set_reason("too long");
  AuditFacts facts;
  tell_request(request, facts);
  tell_reply(reply, facts);
  trail.note({.caller = {.token_hash = "fedcba9876543210"},
              .address = "",
              .name = "ControlJob",
              .facts = facts},
             ok());
  pass(1ms);
  EXPECT_THAT(lines(),
              ElementsAre("bob ControlJob job/1, job/3 ok: stop: too long",
                          "bob ControlJob job/2 permission_denied: stop: too long; job 2 belongs "
                          "to ann"));
}

TEST_F(Trail, WhatTheLogDoesNotTakeWaitsAndWhatIsLostIsSaid) {
  log.is_away = true;
  for (int i = 0; i < 12'000; ++i)
    note("0123456789abcdef", "MoveJob", ok(), fmt::format("job/{}", i));
  pass(5s);
  EXPECT_THAT(lines(), SizeIs(0));
  EXPECT_EQ(trail.lost(), 2'000);
  log.is_away = false;
  pass(2s);
  ASSERT_THAT(lines(), SizeIs(10'001));
  EXPECT_EQ(lines()[9'999], "ann MoveJob job/9999 ok: ");
  EXPECT_THAT(log.entries().back().detail, HasSubstr("2000 entries are lost"));
  EXPECT_LE(log.batches, 30);
}

TEST_F(Trail, WritesWhatItHasCountedBeforeItStops) {
  for (int i = 0; i < 10; ++i) note("x", "GetJob", unauthenticated("not known"));
  bool has_stopped = false;
  loop.post([&] { trail.stop([&] { has_stopped = true; }); });
  pass(100ms);
  EXPECT_TRUE(has_stopped);
  EXPECT_EQ(lines().back(), " GetJob  unauthenticated: not known; and 8 more");
}

TEST_F(Trail, StopsWithoutADatabaseToo) {
  log.is_away = true;
  note("0123456789abcdef", "MoveJob", ok());
  pass(1500ms);
  bool has_stopped = false;
  loop.post([&] { trail.stop([&] { has_stopped = true; }); });
  pass(1ms);
  EXPECT_TRUE(has_stopped);
}

TEST_F(Trail, TextsOfStrangersAreShortAndText) {
  note("x", std::string(5'000, 'y'), unauthenticated("{}\x1b[2J\n", std::string(500, 'z')), "",
       std::string(5'000, '1'));
  pass(1ms);
  ASSERT_THAT(log.entries(), SizeIs(1));
  const AuditEntry entry = log.entries()[0];
  EXPECT_LT(entry.call.size() + entry.address.size() + entry.detail.size(), 500u);
  EXPECT_EQ(entry.detail.find('\x1b'), std::string::npos);
}

TEST(AuditedCalls, AreThoseOfTheContract) {
  for (const char* call :
       {"SubmitJob", "SubmitJobs", "ControlJob", "ReadLog", "GetJobSpec", "ListSecrets",
        "SetSecret", "ListAudit", "SignIn", "SignOut", "CreateToken", "JoinNode", "ControlNode"}) {
    EXPECT_TRUE(is_audited(call, Code::ok)) << call;
  }
  for (const char* call :
       {"DryRunJob", "WhatIf", "BeginSignIn", "GetJob", "WatchJob", "ListJobs", "WatchEvents"}) {
    EXPECT_FALSE(is_audited(call, Code::ok)) << call;
    EXPECT_TRUE(is_audited(call, Code::permission_denied)) << call;
  }
}

// Values that nobody else may see are no part of what is written.
TEST(AuditFacts, HaveNoSecrets) {
  const std::string secret = "hunter2";
  AuditFacts facts;
  v1::SetSecretRequest set;
  set.set_name("db");
  set.set_value(secret);
  tell_request(set, facts);
  EXPECT_EQ(facts.target + facts.detail, "secret/db");
  v1::SignInRequest sign_in;
  sign_in.set_token(secret);
  tell_request(sign_in, facts);
  EXPECT_EQ(facts.target + facts.detail, "token");
  v1::CreateTokenReply made;
  made.set_secret(secret);
  made.mutable_token()->set_id("0123");
  made.mutable_token()->set_user("ann");
  tell_reply(made, facts);
  EXPECT_EQ(facts.target, "user/ann, token/0123");
  v1::SubmitJobRequest submit;
  submit.mutable_spec()->set_name("train");
  (*submit.mutable_spec()->mutable_environments())["PASSWORD"] = secret;
  tell_request(submit, facts);
  EXPECT_EQ(facts.target + facts.detail, "job/train");
}

}  // namespace
}  // namespace hai::test
