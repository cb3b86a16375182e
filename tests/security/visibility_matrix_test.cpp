// What who sees of a job: every call that users may make, over HTTP and gRPC, under each
// `visibility` that a site can choose, for a job's owner, somebody of her user group, somebody else
// and an operator. Who does not see a job is told of it what he is told of one that there is not,
// and its name by no call. Who sees its row is told what it runs by no call.

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/security/access_fixture.h"

namespace hai {
namespace {

const std::vector<Who> kSite = {{.name = "bob", .groups = {"nlp"}},
                                {.name = "tom", .groups = {"nlp", "vision"}},
                                {.name = "ann", .is_owner = true, .groups = {"vision"}},
                                {.name = "olga", .role = Role::operator_}};
// What an operator does with a token of scope submit, she does as a user.
const std::vector<TokenScope> kRights = {TokenScope::read, TokenScope::submit, TokenScope::admin};

// Whether what it runs.
bool sees_program(Visibility visibility, const Who& who, TokenScope scope) {
  if (visibility == Visibility::open || who.is_owner) return true;
  if (within(who.role, scope) >= Role::operator_) return true;
  return visibility != Visibility::own && who.name == "tom";
}

bool sees(Visibility visibility, const Who& who, TokenScope scope) {
  return visibility == Visibility::all || sees_program(visibility, who, scope);
}

// Those whose example names the job.
bool names_job(const MethodDescriptor& call) {
  return kExamples.at(call.name()).find("{id}") != std::string::npos;
}

class Visible : public Access, public ::testing::WithParamInterface<Visibility> {
 protected:
  Visible() : Access(kSite, GetParam()) {
    server_.say(job_, [](RankStatus& rank) {
      rank.progress_step = 7;
      rank.metrics = {{kProgramWord, 1.0}};
    });
    server_.hang_job(job_of_ann(kJobName + "-that-hangs"));
    EXPECT_TRUE(server_.eventually(
        [](Controller& controller) { return !controller.state().incidents().empty(); }));
  }

  // Of a job's ranks is noted every ten seconds what they report.
  bool is_usage_known() {
    const std::string path = fmt::format("/api/v1/jobs/{}/usage", job_);
    for (int i = 0; i < 150; ++i) {
      if (get(path).body.find(kProgramWord) != std::string::npos) return true;
      std::this_thread::sleep_for(200ms);
    }
    return false;
  }

  void judge(const MethodDescriptor& call, const Who& who, TokenScope scope, const Asked& asked,
             const std::string& over) {
    const std::string what =
        fmt::format("{} with a token of scope {} asks {} over {}: {}", who.name, to_string(scope),
                    call.name(), over, asked.words);
    const bool is_seen = sees(GetParam(), who, scope);
    const bool is_told = asked.words.find(kJobName) != std::string::npos;
    EXPECT_FALSE(is_told && !is_seen) << what;
    if (is_told) tellers_.insert(call.name() + " " + over);
    const bool knows_program = asked.words.find(kProgramWord) != std::string::npos ||
                               asked.words.find(kWhyItHung) != std::string::npos;
    EXPECT_FALSE(knows_program && !sees_program(GetParam(), who, scope)) << what;
    if (knows_program) program_tellers_.insert(call.name() + " " + over);
    if (!names_job(call) || !asked.is_built) return;
    ++judged_;
    const bool is_absent =
        asked.words.find(fmt::format("job {} does not exist", job_)) != std::string::npos;
    if (is_seen) {
      EXPECT_FALSE(is_absent) << what;
      EXPECT_EQ(word_of(asked.outcome), word_of(expected(call, who, scope))) << what;
      return;
    }
    // A token that changes nothing may be refused before it is looked at which job is meant.
    const bool is_denied = scope == TokenScope::read && changes(call);
    EXPECT_TRUE(is_absent || (is_denied && asked.outcome == Outcome::denied)) << what;
  }

  // In the summary of the incident about her other job, which hangs.
  static inline const std::string kWhyItHung = "stopped first";

  std::set<std::string> tellers_;          // what has named the job to somebody
  std::set<std::string> program_tellers_;  // what has told somebody what it runs
  int judged_ = 0;
};

TEST_P(Visible, IsAJobToThoseWhoMayKnowOfIt) {
  ASSERT_TRUE(is_usage_known());
  for (int i = 0; i < api().method_count(); ++i) {
    const MethodDescriptor& call = *api().method(i);
    const std::string role = role_needed(call);
    if ((role != "user" && role != "owner") || call.name() == "SignOut") continue;
    for (const Who& who : kSite) {
      for (const TokenScope scope : kRights) {
        const auto body = [&] { return example(call, who.name); };
        const std::string token = secret_of(who, scope);
        if (route_of(call)) judge(call, who, scope, ask_http(call, body(), token), "HTTP");
        judge(call, who, scope, ask_grpc(call, body(), token), "gRPC");
      }
    }
  }
  EXPECT_GT(judged_, 250);
  // Who may know is told by these, or this test would hold of calls that tell nobody anything.
  for (const char* teller : {"GetJob HTTP", "GetJob gRPC", "GetJobSpec HTTP", "GetJobSpec gRPC",
                             "ListJobs HTTP", "ListJobs gRPC", "ListEvents HTTP", "ListEvents gRPC",
                             "WatchJob gRPC", "WatchEvents HTTP"}) {
    EXPECT_THAT(tellers_, ::testing::Contains(teller));
    EXPECT_THAT(program_tellers_, ::testing::Contains(teller));
  }
  for (const char* teller :
       {"GetJobUsage HTTP", "GetJobUsage gRPC", "ListIncidents HTTP", "ListIncidents gRPC"}) {
    EXPECT_THAT(program_tellers_, ::testing::Contains(teller));
  }
}

INSTANTIATE_TEST_SUITE_P(Sites, Visible,
                         ::testing::Values(Visibility::open, Visibility::all, Visibility::team,
                                           Visibility::own));

}  // namespace
}  // namespace hai
