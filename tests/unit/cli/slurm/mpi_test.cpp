#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/slurm/job_plan.h"
#include "cli/slurm/mpi_option.h"
#include "cli/slurm/step/mpi_hub.h"
#include "cli/slurm/step/mpi_message.h"
#include "cli/slurm/step/step.h"

namespace hai::cli::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Sent = std::vector<MpiHub::Outgoing>;

const MpiSetup kSetup = {.space = "hai.n1.0.ab",
                         .directory = "/tmp/x",
                         .node_index = 1,
                         .nodes = {"n3", "n1", "gpu-7"},
                         .tasks_by_node = {2, 1, 3}};

ParsedWords srun(const std::vector<std::string>& words) {
  const auto parsed = parse_words(Command::srun, words);
  EXPECT_TRUE(parsed.is_ok()) << parsed.status().message();
  return parsed.value();
}

TEST(SlurmMpi, TypesThatAreKnown) {
  for (const char* type : {"pmix", "pmix_v4"}) {
    const ParsedWords words = srun({"--mpi", type, "x"});
    EXPECT_TRUE(check_mpi(words).is_ok());
    EXPECT_TRUE(wants_pmix(words) && kills_on_bad_exit(words));
    EXPECT_EQ(step_of_options(words).value().mpi, 1);
  }
  EXPECT_FALSE(kills_on_bad_exit(srun({"--mpi=pmix", "-K0", "x"})));
  const ParsedWords none = srun({"--mpi=none", "x"});
  EXPECT_TRUE(check_mpi(none).is_ok());
  EXPECT_FALSE(wants_pmix(none) || kills_on_bad_exit(none));
  EXPECT_TRUE(asks_mpi_list(srun({"--mpi=list"})));
  for (const char* type : {"pmi2", "openmpi", "pmix_v9"}) {
    EXPECT_THAT(std::string(check_mpi(srun({std::string("--mpi=") + type, "x"})).message()),
                HasSubstr("--mpi: none, pmix"));
  }
  EXPECT_FALSE(check_mpi(srun({"--mpi=pmix", "--pty", "x"})).is_ok());
  EXPECT_FALSE(check_mpi(srun({"--mpi=pmix", "--container-image=a", "x"})).is_ok());
}

TEST(SlurmMpi, WhereRanksAre) {
  EXPECT_EQ(node_text(kSetup), "n3,n1,gpu-7");
  EXPECT_EQ(rank_text(kSetup), "0,1;2;3,4,5");
  EXPECT_EQ(ranks_on(kSetup.tasks_by_node, 2), "3,4,5");
  std::vector<int> nodes;
  for (int rank = -1; rank <= 6; ++rank) nodes.push_back(node_of_rank(kSetup.tasks_by_node, rank));
  EXPECT_THAT(nodes, ElementsAre(-1, 0, 0, 1, 2, 2, 2, -1));
}

TEST(SlurmMpi, TasksByNodeComeBack) {
  for (const std::vector<int>& counts :
       std::vector<std::vector<int>>{{}, {1}, {4, 4, 3}, {2, 1, 1}}) {
    EXPECT_EQ(parse_tasks_by_node(format_tasks_by_node(counts)).value(), counts);
  }
  for (const char* text : {"x", "1,", "(x2)", "1(x0)", "1(x9999999)", "-1", "1(x2", "1(x-1)",
                           "99999999999", "1(x1000000),1"}) {
    EXPECT_FALSE(parse_tasks_by_node(text).is_ok()) << text;
  }
}

TEST(SlurmMpi, MessagesTravelUnchanged) {
  const MpiMessage message = {.kind = MpiKind::fence,
                              .id = 4'000'000'000,
                              .node = 2,
                              .rank = 5,
                              .status = -1,
                              .ranks = {0, 3, 5},
                              .data = std::string("a\0\xff", 3)};
  EXPECT_EQ(decode_mpi(encode_mpi(message)).value(), message);
  EXPECT_EQ(decode_setup(encode_setup(kSetup)).value(), kSetup);
  for (const std::string& body : {encode_mpi(message), encode_setup(kSetup)}) {
    for (size_t cut = 0; cut < body.size(); ++cut) {
      EXPECT_FALSE(decode_mpi(body.substr(0, cut)).is_ok()) << cut;
      EXPECT_FALSE(decode_setup(body.substr(0, cut)).is_ok()) << cut;
    }
  }
}

TEST(SlurmMpi, HostileMessagesAreNone) {
  const auto message = [](const char* kind, const char* id, const char* node, const char* rank,
                          const char* ranks) {
    return decode_mpi(pack({kind, id, node, rank, "0", ranks, ""})).is_ok();
  };
  EXPECT_TRUE(message("4", "0", "0", "0", "0,1"));
  for (const char* kind : {"0", "11", "-1", "x", ""})
    EXPECT_FALSE(message(kind, "0", "0", "0", ""));
  for (const char* number : {"-1", "65536", "99999999999", "", "1x"}) {
    EXPECT_FALSE(message("4", "0", number, "0", "")) << number;
    EXPECT_FALSE(message("4", "0", "0", number, "")) << number;
  }
  for (const char* ranks : {"1,0", "0,0", "-1", "65536", ",", "0,", "0;1", "99999999999"}) {
    EXPECT_FALSE(message("4", "0", "0", "0", ranks)) << ranks;
  }
  EXPECT_FALSE(decode_mpi("\xff\xff\xff\xff").is_ok());
  MpiSetup setup = kSetup;
  setup.node_index = 3;
  EXPECT_FALSE(decode_setup(encode_setup(setup)).is_ok());
  setup = kSetup;
  setup.tasks_by_node = {40'000, 40'000, 1};
  EXPECT_FALSE(decode_setup(encode_setup(setup)).is_ok());
  setup.tasks_by_node = {1, 1};
  EXPECT_FALSE(decode_setup(encode_setup(setup)).is_ok());
}

MpiMessage fence(uint32_t id, const std::string& data, const std::vector<int>& ranks = {}) {
  return {.kind = MpiKind::fence, .id = id, .ranks = ranks, .data = data};
}

MpiHub::Outgoing done(int node, uint32_t id, const std::string& data) {
  return {node, {.kind = MpiKind::fence_done, .id = id, .data = data}};
}

TEST(SlurmMpi, TasksStartWhenAllNodesAreReady) {
  MpiHub hub({2, 1});
  EXPECT_EQ(hub.take(1, {.kind = MpiKind::ready}).value(), Sent{});
  EXPECT_EQ(hub.take(1, {.kind = MpiKind::ready}).value(), Sent{});
  EXPECT_EQ(hub.take(0, {.kind = MpiKind::ready}).value(),
            (Sent{{0, {.kind = MpiKind::go}}, {1, {.kind = MpiKind::go}}}));
  EXPECT_EQ(hub.take(0, {.kind = MpiKind::ready}).value(), Sent{});
}

TEST(SlurmMpi, FencesBringTogetherWhatTheirNodesHave) {
  MpiHub hub({2, 1, 3});
  EXPECT_THAT(hub.take(0, fence(7, "a")).value(), IsEmpty());
  EXPECT_THAT(hub.take(0, fence(8, "A")).value(), IsEmpty());  // the next one already
  EXPECT_THAT(hub.take(2, fence(1, "c")).value(), IsEmpty());
  // Of ranks 1 and 4 alone, on nodes 0 and 2.
  EXPECT_THAT(hub.take(2, fence(2, "x", {1, 4})).value(), IsEmpty());
  EXPECT_EQ(hub.take(0, fence(9, "y", {1, 4})).value(), (Sent{done(0, 9, "xy"), done(2, 2, "xy")}));
  EXPECT_EQ(hub.take(1, fence(5, "b")).value(),
            (Sent{done(0, 7, "acb"), done(1, 5, "acb"), done(2, 1, "acb")}));
  EXPECT_THAT(hub.take(1, fence(6, "B")).value(), IsEmpty());
  EXPECT_EQ(hub.take(2, fence(3, "C")).value(),
            (Sent{done(0, 8, "ABC"), done(1, 6, "ABC"), done(2, 3, "ABC")}));
}

TEST(SlurmMpi, QuestionsFindTheirRank) {
  MpiHub hub({2, 1, 3});
  const MpiMessage ask = {.kind = MpiKind::ask, .id = 3, .rank = 4};
  const Sent asked = hub.take(1, ask).value();
  EXPECT_EQ(asked, (Sent{{2, {.kind = MpiKind::ask, .id = 3, .node = 1, .rank = 4}}}));
  const MpiMessage answer = {.kind = MpiKind::answer, .id = 3, .node = 1, .rank = 4, .data = "d"};
  EXPECT_EQ(hub.take(2, answer).value(), (Sent{{1, answer}}));
}

TEST(SlurmMpi, WhatCannotBeEndsTheStep) {
  MpiHub hub({1, 1});
  EXPECT_FALSE(hub.take(0, fence(1, "", {1})).is_ok());     // not of this node
  EXPECT_FALSE(hub.take(0, fence(1, "", {0, 2})).is_ok());  // no such rank
  EXPECT_FALSE(hub.take(0, {.kind = MpiKind::ask, .rank = 2}).is_ok());
  EXPECT_FALSE(hub.take(0, {.kind = MpiKind::answer, .node = 2}).is_ok());
  EXPECT_FALSE(hub.take(0, {.kind = MpiKind::go}).is_ok());
  EXPECT_TRUE(hub.take(0, fence(1, std::string(kMpiBytesMax, 'x'))).is_ok());
  EXPECT_FALSE(hub.take(1, fence(1, "x")).is_ok());  // together they are too much
  MpiHub many({1, 1});
  for (uint32_t id = 0; id < 1'024; ++id) ASSERT_TRUE(many.take(0, fence(id, "")).is_ok());
  EXPECT_FALSE(many.take(0, fence(1'024, "")).is_ok());
}

TEST(SlurmMpi, ATaskThatLeavesIsNotedInEitherOrder) {
  MpiHub hub({2});
  EXPECT_FALSE(hub.note_lost(0));
  EXPECT_TRUE(hub.note_ended(0));
  EXPECT_FALSE(hub.note_ended(1));
  EXPECT_TRUE(hub.note_lost(1));
  EXPECT_FALSE(hub.note_lost(9));
  EXPECT_FALSE(hub.note_ended(9));
}

}  // namespace
}  // namespace hai::cli::slurm
