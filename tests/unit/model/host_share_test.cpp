#include "server/model/host_share.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

// 12 CPUs do not divide by 8 GPUs.
NodeFacts odd_node() {
  NodeFacts facts;
  facts.gpus = 8;
  facts.cpus = 12;
  facts.memory_bytes = 100 * kGiB + 1;
  return facts;
}

TEST(HostShare, ProportionsAddUpToTheNodeWithoutRounding) {
  const NodeFacts node = odd_node();
  HostParts sum;
  for (int gpu = 0; gpu < 8; ++gpu) sum += host_use(node, 1, {});
  EXPECT_EQ(sum, host_total(node));
  EXPECT_EQ(host_use(node, 2, {}) + host_use(node, 4, {}) + host_use(node, 2, {}),
            host_total(node));
}

TEST(HostShare, WhoAsksForNothingHasNoExcess) {
  for (int gpus = 1; gpus <= 8; ++gpus) {
    EXPECT_TRUE(host_excess(odd_node(), gpus, {}).is_zero()) << gpus;
  }
}

TEST(HostShare, IsWhatIsAskedFor) {
  const NodeFacts node = odd_node();
  const HostAmounts amounts =
      host_amounts(node, host_use(node, 2, {.cpus = 5, .memory_bytes = 7 * kGiB}));
  EXPECT_EQ(amounts.cpus, 5);
  EXPECT_EQ(amounts.memory_bytes, 7 * kGiB);
  // Less than comes with the GPUs: the rest is for others.
  EXPECT_LT(host_excess(node, 4, {.cpus = 1}).cpus, 0);
  EXPECT_GT(host_excess(node, 4, {.cpus = 7}).cpus, 0);
}

TEST(HostShare, AWholeNodeHasAllOfItWhateverItAsksFor) {
  const NodeFacts node = odd_node();
  EXPECT_EQ(host_use(node, 8, {.cpus = 1, .memory_bytes = kGiB}), host_total(node));
}

TEST(HostShare, WithoutGpusMemoryGoesByTheCpus) {
  NodeFacts node = odd_node();
  node.memory_bytes = 120 * kGiB;
  JobSpec spec;
  spec.gpus_per_node = kNoGpus;
  EXPECT_EQ(host_ask(spec), (HostAsk{.cpus = 1}));
  HostAmounts amounts = host_amounts(node, host_use(node, 0, host_ask(spec)));
  EXPECT_EQ(amounts.cpus, 1);
  EXPECT_EQ(amounts.memory_bytes, 10 * kGiB);
  node.gpus = 0;
  amounts = host_amounts(node, host_use(node, 0, {.cpus = 6, .memory_bytes = kGiB}));
  EXPECT_EQ(amounts.cpus, 6);
  EXPECT_EQ(amounts.memory_bytes, kGiB);
}

TEST(HostShare, OfWhatANodeDoesNotKnowNothingIsCounted) {
  NodeFacts node;
  node.gpus = 8;
  EXPECT_TRUE(host_use(node, 4, {.cpus = 60, .memory_bytes = 900 * kGiB}).is_zero());
  EXPECT_TRUE(has_host(node, 4, {.cpus = 60, .memory_bytes = 900 * kGiB}));
  EXPECT_FALSE(has_host(node, kNoGpus, {.cpus = 1})) << "nothing to count for a job without GPUs";
}

TEST(HostShare, ANodeHasNoMoreThanItHas) {
  EXPECT_TRUE(has_host(odd_node(), 1, {.cpus = 12}));
  EXPECT_FALSE(has_host(odd_node(), 1, {.cpus = 13}));
  EXPECT_FALSE(has_host(odd_node(), 0, {.memory_bytes = 101 * kGiB}));
}

TEST(HostShare, TheLargestAmountsDoNotOverflow) {
  NodeFacts node;
  node.gpus = 64;
  node.cpus = 65'536;
  node.memory_bytes = int64_t{1} << 50;
  EXPECT_EQ(host_amounts(node, host_total(node)).memory_bytes, int64_t{1} << 50);
  EXPECT_EQ(host_use(node, 63, {.cpus = 65'536, .memory_bytes = int64_t{1} << 50}),
            host_total(node));
}

}  // namespace
}  // namespace hai
