// Who may what, and what he sees of a job by it: every call, over HTTP and gRPC, under each
// `visibility` that a site can choose, for a job's owner, somebody of her user group, somebody
// else, an operator and an administrator, with a token of each scope. Who does not see a job is
// told of it what he is told of one that there is not, and its name by no call. Who sees its row is
// told what it runs by no call. Calls that are left out are in outside_matrix_test.cpp.

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "hai/v1/shell.grpc.pb.h"
#include "tests/security/access_fixture.h"
#include "tests/unit/rpc/shell_browser.h"

namespace hai {
namespace {

const std::vector<Who> kSite = {{.name = "bob", .groups = {"nlp"}},
                                {.name = "tom", .groups = {"nlp", "vision"}},
                                {.name = "ann", .is_owner = true, .groups = {"vision"}},
                                {.name = "olga", .role = Role::operator_},
                                {.name = LiveServer::kAdmin, .role = Role::admin}};

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

  bool says_absent(const Asked& asked) const {
    return asked.words.find(fmt::format("job {} does not exist", job_)) != std::string::npos;
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
    const Outcome outcome = expected(call, who, scope);
    if (!asked.is_built && outcome == Outcome::let_in) {
      lacking_.insert(call.name());
      return;
    }
    ++judged_;
    const bool is_absent = says_absent(asked);
    if (is_seen || !names_job(call)) {
      EXPECT_FALSE(is_absent) << what;
      EXPECT_EQ(word_of(asked.outcome), word_of(outcome)) << what;
      return;
    }
    // A token that changes nothing may be refused before it is looked at which job is meant.
    const bool is_denied = scope == TokenScope::read && changes(call);
    EXPECT_TRUE(is_absent || (is_denied && asked.outcome == Outcome::denied)) << what;
  }

  // ---- ways into a rank

  struct ShellCall {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReaderWriter<v1::ShellMessage, v1::ShellMessage>> stream;
    ~ShellCall() {
      context.TryCancel();
      if (stream) stream->Finish();
    }
  };
  std::unique_ptr<ShellCall> open_shell(const std::string& token) {
    auto call = std::make_unique<ShellCall>();
    show(call->context, token);
    call->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    call->stream = v1::Shells::NewStub(channel_)->Open(&call->context);
    v1::ShellMessage message;
    message.mutable_open()->set_job(std::to_string(job_));
    message.mutable_open()->mutable_program()->add_argv("cat");
    call->stream->Write(message);
    return call;
  }
  static Asked end_of(ShellCall& call) {
    v1::ShellMessage ignored;
    while (call.stream->Read(&ignored)) continue;
    return asked_of(std::exchange(call.stream, nullptr)->Finish());
  }
  // Waits for it.
  bool is_asked_for_a_shell() {
    for (int i = 0; i < 1'000; ++i) {
      const size_t asked = server_.asked_shells().size();
      if (asked > shells_asked_) return shells_asked_ = asked, true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
  // What a browser's first message is answered.
  Asked ask_for_socket(const std::string& token) {
    ShellBrowser browser(server_.http_port(), std::to_string(job_), token);
    browser.say({{"open", {{"rank", 0}, {"argv", {"cat"}}}}});
    const std::string answer = browser.hear();
    return {.outcome = says_denied(answer) ? Outcome::denied : Outcome::let_in, .words = answer};
  }
  size_t shells_asked_ = 0;  // of the agent

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
    if (role_needed(call) == "anyone") continue;
    for (const Who& who : kSite) {
      for (const TokenScope scope : kScopes) {
        const auto body = [&] { return example(call, who.name); };
        const std::string token = secret_of(who, scope);
        for (const v1::Route& route : routes_of(call))
          judge(call, who, scope, ask_http(call, body(), token, route), "HTTP");
        judge(call, who, scope, ask_grpc(call, body(), token), "gRPC");
      }
    }
  }
  EXPECT_GT(judged_, 1'500);
  EXPECT_THAT(lacking_, ::testing::ElementsAre("GetHistory", "ListAudit"))
      << "a server without a database";
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

// Neither a role nor a scope opens another's job, and who does not see it is not told that it is
// there.
TEST_P(Visible, LetsNobodyButItsOwnerIntoAJob) {
  for (const Who& who : kSite) {
    for (const TokenScope scope : kScopes) {
      const std::string token = secret_of(who, scope);
      const std::string what =
          fmt::format("{} with a token of scope {}", who.name, to_string(scope));
      const bool may_enter = who.is_owner && scope >= TokenScope::submit;
      const auto stream = open_shell(token);
      if (may_enter) {
        EXPECT_TRUE(is_asked_for_a_shell()) << what;
        continue;
      }
      const Asked by_grpc = end_of(*stream);
      const Asked by_http = ask_for_socket(token);
      if (sees(GetParam(), who, scope)) {
        EXPECT_EQ(word_of(by_grpc.outcome), word_of(Outcome::denied)) << what << by_grpc.words;
        EXPECT_EQ(word_of(by_http.outcome), word_of(Outcome::denied)) << what << by_http.words;
      } else {
        EXPECT_TRUE(says_absent(by_grpc)) << what << by_grpc.words;
        EXPECT_TRUE(says_absent(by_http)) << what << by_http.words;
      }
    }
  }
  EXPECT_EQ(server_.asked_shells().size(), shells_asked_) << "nobody else's came to the node";
}

INSTANTIATE_TEST_SUITE_P(Sites, Visible,
                         ::testing::Values(Visibility::open, Visibility::all, Visibility::team,
                                           Visibility::own));

}  // namespace
}  // namespace hai
