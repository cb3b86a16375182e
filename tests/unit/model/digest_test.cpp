// Two runs that decided the same have the same digest, and no others.

#include "server/model/digest.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

uint64_t digest_of(const std::vector<Event>& events) {
  uint64_t value = kDigestStart;
  for (const Event& event : events) value = digest(value, event);
  return value;
}

TEST(EventDigest, IsTheSameForTheSameHistory) {
  auto history = [] {
    Cluster c = cluster(nodes(2, gpus(8)));
    c.run(job("j").nodes(2), {"node-1", "node-2"});
    return digest_of(c.events());
  };
  EXPECT_EQ(history(), history());
}

TEST(EventDigest, DiffersInEveryField) {
  Event base{1, unix_micros(5), "ann", RankEnded{JobId{1}, 2, 3, RankState::exited}};
  std::set<uint64_t> seen = {digest(kDigestStart, base)};
  auto expect_new = [&](auto&& change) {
    Event changed = base;
    change(changed, std::get<RankEnded>(changed.body));
    EXPECT_TRUE(seen.insert(digest(kDigestStart, changed)).second);
  };
  expect_new([](Event& e, RankEnded&) { e.time += 1us; });
  expect_new([](Event& e, RankEnded&) { e.actor = "bob"; });
  expect_new([](Event&, RankEnded& b) { b.job = JobId{2}; });
  expect_new([](Event&, RankEnded& b) { b.attempt = 3; });
  expect_new([](Event&, RankEnded& b) { b.rank = 2; });
  expect_new([](Event&, RankEnded& b) { b.state = RankState::lost; });
  expect_new([](Event&, RankEnded& b) { b.cause = ExitCause::fenced; });
  expect_new([](Event&, RankEnded& b) { b.exit_code = 1; });
  expect_new([](Event&, RankEnded& b) { b.message = "x"; });
  expect_new([](Event& e, RankEnded&) { e.body = AttemptRunning{JobId{1}, 2}; });
}

}  // namespace
}  // namespace hai::test
