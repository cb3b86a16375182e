#include "server/model/state_digest.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/builders.h"
#include "tests/support/random_cluster.h"

namespace hai {
namespace {

TEST(StateDigest, ChangesWithEveryEventAndDependsOnNothingElse) {
  test::RandomCluster cluster(9);
  ClusterState state;
  std::set<uint64_t> digests;
  size_t events = 0;
  for (const AppendBatch& batch :
       {cluster.start_epoch(Epoch{1}), cluster.next_batch(Epoch{1}, 500)}) {
    for (const Event& event : batch.events) {
      state.apply(event);
      digests.insert(state_digest(state));
      ++events;
    }
  }
  EXPECT_EQ(digests.size(), events);
  EXPECT_EQ(state_digest(state), state_digest(cluster.state()));
  // What a server forgets is no part of it.
  ClusterState shorter = state;
  shorter.evict_finished(0);
  ASSERT_LT(shorter.jobs().size(), state.jobs().size());
  EXPECT_EQ(state_digest(shorter), state_digest(state));
}

// Texts side by side, which a careless hash takes for each other.
TEST(StateDigest, TellsApartWhatStandsInWhichField) {
  const std::string long_one(9, 'a');
  const std::pair<std::string, std::string> kTexts[] = {{"", ""},
                                                        {"x", ""},
                                                        {"", "x"},
                                                        {"x", "y"},
                                                        {"y", "x"},
                                                        {"xy", ""},
                                                        {"", "xy"},
                                                        {std::string("x\0", 2), ""},
                                                        {long_one, ""},
                                                        {long_one + "b", ""},
                                                        {"b" + long_one, ""}};
  std::set<uint64_t> digests;
  for (const auto& [reason, by] : kTexts) {
    test::Cluster c = test::cluster(test::nodes(1, test::gpus(8)));
    c.emit(NodeSchedulingChanged{NodeId{1}, Scheduling::cordoned, reason, by});
    digests.insert(state_digest(c.state()));
  }
  EXPECT_EQ(digests.size(), std::size(kTexts));
}

TEST(StateDigest, IsSixteenDigits) { EXPECT_EQ(digest_text(0xab), "00000000000000ab"); }

}  // namespace
}  // namespace hai
