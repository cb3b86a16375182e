// Ways into ranks as both sides see them: a person's stream and the agent's, over loopback, with a
// real server between them.

#include <fmt/ranges.h>

#include <future>

#include "server/rpc/node_images.h"
#include "server/rpc/shells.h"
#include "tests/unit/rpc/shells_fixture.h"

namespace hai {
namespace {

TEST_F(ShellsOfServer, CarryWhatEachSaysToTheOther) {
  const auto ann = person();
  ann->say(opening("train"));
  const auto node = agent(ticket());
  const ShellRequest asked = server_.asked_shells().back();
  EXPECT_EQ(asked.key, (RankKey{JobId{job_}, 1, 0}));
  EXPECT_EQ(asked.program.argv, std::vector<std::string>{"cat"});
  node->say(started());
  const v1::ShellMessage first = ann->hear();
  EXPECT_EQ(first.started().node(), "n1") << "the server knows better";
  EXPECT_EQ(first.started().job(), job_);
  for (const std::string& word : {std::string("one"), std::string("two\0", 4)}) {
    ann->say(input(word));
    EXPECT_EQ(node->hear().input(), word);
    node->say(output(word));
    EXPECT_EQ(ann->hear().output(), word);
  }
  node->say(ended(3));
  EXPECT_EQ(ann->hear().end().exit_code(), 3);
  EXPECT_TRUE(ann->end().ok());
  EXPECT_TRUE(node->end().ok());
}

TEST_F(ShellsOfServer, TellWhyThereIsNone) {
  const auto ann = person();
  ann->say(opening("train"));
  const auto node = agent(ticket());
  node->say(ended(126, "no such program"));
  const grpc::Status status = ann->end();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "no such program");
}

TEST_F(ShellsOfServer, EndWithEitherSide) {
  const auto ann = person();
  ann->say(opening("train"));
  const auto node = agent(ticket());
  node->say(started());
  ann->hear();
  node->leave();
  const grpc::Status status = ann->end();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_NE(status.error_message().find("node n1 is lost, and the shell with it"),
            std::string::npos);

  const auto bob = person();
  bob->say(opening("train"));
  const auto again = agent(ticket(2));
  again->say(started());
  bob->hear();
  bob->leave();
  EXPECT_EQ(again->end().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ShellsOfServer, LeadToTheImagesOfANode) {
  v1::ShellMessage list;
  list.mutable_open()->set_job("images/n1");
  list.mutable_open()->mutable_program()->add_argv("list");
  const auto ann = person();
  ann->say(list);
  const auto node = agent(ticket());
  EXPECT_EQ(server_.asked_shells().back().key, kImagesOfNode);
  EXPECT_EQ(server_.asked_shells().back().program.argv, std::vector<std::string>{"list"});
  node->say(started());
  EXPECT_EQ(ann->hear().started().node(), "n1");
  node->say(output("{}\n"));
  EXPECT_EQ(ann->hear().output(), "{}\n");
  node->say(ended(0));
  ann->hear();
  EXPECT_TRUE(ann->end().ok());
  EXPECT_EQ(refusal("images/n1", 0, LiveServer::kAdminToken).error_message(),
            "of a node's images there are list, pull and prune");
  list.mutable_open()->set_job("images/n9");
  const auto bob = person();
  bob->say(list);
  EXPECT_EQ(bob->end().error_code(), grpc::StatusCode::NOT_FOUND);
}

// A node says of a job that is not queued yet whether it could be launched there.
TEST_F(ShellsOfServer, LookAtWhatAJobNamesByAPath) {
  const auto look = [this](const std::string& name, size_t number, int code) {
    auto submitted =
        std::async(std::launch::async, [this, name] { return submit_in(name, "rootfs:/x"); });
    const auto node = agent(ticket(number));
    const ShellRequest asked = server_.asked_shells().back();
    EXPECT_EQ(asked.key, kImagesOfNode);
    EXPECT_EQ(asked.program.argv,
              (std::vector<std::string>{"look", fmt::format("--user={}", LiveServer::kAdmin),
                                        "--image=rootfs:/x"}));
    node->say(started());
    v1::ShellMessage complaint;
    complaint.set_error_output("image /x: it is not there\nand more\n");
    node->say(complaint);
    node->say(ended(code));
    return submitted.get().first;
  };
  const grpc::Status refused = look("none", 1, kLookRefused);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(refused.error_message(), "image /x: it is not there");
  EXPECT_TRUE(look("there", 2, 0).ok());
  EXPECT_TRUE(look("older", 3, 106).ok()) << "an agent of before knows no such word";
}

TEST_F(ShellsOfServer, WaitForNoNodeThatDoesNotLook) {
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(submit_in("quiet", "rootfs:/x").first.ok());
  EXPECT_GE(std::chrono::steady_clock::now() - began, Shells::kLookTimeout);
  EXPECT_EQ(server_.asked_shells().size(), 1u);
}

TEST(ImageWords, AreForOperatorsWhereTheyChangeSomething) {
  const Actor ann{.user = "ann", .role = Role::user};
  const Actor root{.user = "root", .role = Role::operator_};
  const auto checked = [](std::vector<std::string> words, const Actor& actor,
                          bool all_see_all = true) {
    return std::string(check_image_words(words, actor, all_see_all).message());
  };
  EXPECT_EQ(checked({"list"}, ann), "");
  EXPECT_EQ(checked({"list"}, ann, false), "only operators may list images of nodes");
  EXPECT_EQ(checked({"list"}, root, false), "");
  EXPECT_EQ(checked({"pull", "box"}, ann), "only operators may pull images of nodes");
  EXPECT_EQ(checked({"pull", "box"}, root), "");
  EXPECT_EQ(checked({"prune"}, root), "");
  EXPECT_EQ(checked({"prune", "--keep", "1Gi"}, root), "");
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"rm"},
                                                {"list", "--store=/etc"},
                                                {"pull"},
                                                {"pull", "box", "--store=/etc"},
                                                {"pull", "--store=/etc"},
                                                {"pull", "oci:/data/box"},
                                                {"prune", "--store", "/etc"},
                                                {"prune", "--keep", "much"}}) {
    EXPECT_NE(checked(words, root), "") << fmt::format("{}", fmt::join(words, " "));
  }
}

TEST_F(ShellsOfServer, AreForTheAgentThatWasAskedAndNobodyElse) {
  EXPECT_EQ(agent("")->end().error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(agent("hai_guessed")->end().error_code(), grpc::StatusCode::NOT_FOUND);
  const auto ann = person();
  ann->say(opening("train"));
  const std::string asked = ticket();
  EXPECT_EQ(agent(asked, "hai_other_secret")->end().error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  const auto node = agent(asked);
  node->say(started());
  ann->hear();
  EXPECT_EQ(agent(asked)->end().error_code(), grpc::StatusCode::NOT_FOUND) << "a second one";
  node->say(ended(0));
  ann->hear();
  ann->end();
  EXPECT_EQ(agent(asked)->end().error_code(), grpc::StatusCode::NOT_FOUND) << "too late";
}

TEST_F(ShellsOfServer, RefuseWhoMayNotAndWhatIsNot) {
  EXPECT_EQ(refusal("train", 0, "").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(refusal("train", 0, "hai_nobody").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(refusal("train", 0, LiveServer::kAgentToken).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(refusal("nothing", 0, LiveServer::kAdminToken).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(refusal("train", 1, LiveServer::kAdminToken).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(refusal("train", -1, LiveServer::kAdminToken).error_code(),
            grpc::StatusCode::NOT_FOUND);
  const auto odd = person();
  odd->say(input("before anything was opened"));
  EXPECT_EQ(odd->end().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  server_.finish_job(job_, 0);
  EXPECT_TRUE(server_.eventually([this](Controller& controller) {
    return controller.state().find(JobId{job_})->is_terminal();
  }));
  const grpc::Status over = refusal(std::to_string(job_), 0, LiveServer::kAdminToken);
  EXPECT_EQ(over.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(over.error_message().find("is succeeded"), std::string::npos);
  EXPECT_TRUE(server_.asked_shells().empty());
}

TEST_F(ShellsOfServer, TakeWhatIsSaidOutOfTurn) {
  const auto ann = person();
  ann->say(opening("train"));
  const auto node = agent(ticket());
  node->say(v1::ShellMessage{});  // of an agent that only wants to know whether we are there
  node->say(opening("train"));    // not an agent's to say
  node->say(started());
  EXPECT_TRUE(ann->hear().has_started());
  ann->say(opening("train"));  // once is enough
  ann->say(output("not a person's to say"));
  ann->say(input("typed"));
  EXPECT_EQ(node->hear().input(), "typed");
}

}  // namespace
}  // namespace hai
