// Who leads: one at a time, fenced by epoch, and taken over in time.

#include "server/store/pg_store.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

using LeaseTest = StoreFixture;

TEST_F(LeaseTest, TwoStoresContend) {
  PgStore first(loop_, {conninfo_});
  PgStore second(loop_, {conninfo_});
  EXPECT_EQ(acquire(first).value().epoch, Epoch{1});
  const Result<Term> refused = acquire(second);
  EXPECT_EQ(refused.status().code(), Code::failed_precondition);
  EXPECT_THAT(refused.status().message(),
              ContainsRegex(":[0-9]+ leads with epoch 1, its lease ends in [0-9]+ ms"));
  EXPECT_EQ(acquire(first).value().epoch, Epoch{2}) << "the holder may start a new epoch";
  release(first, Epoch{2});
  EXPECT_EQ(acquire(second).value().epoch, Epoch{3});
}

TEST_F(LeaseTest, TheOneThatIsRefusedLearnsWhereTheLeaderIs) {
  const ServerAddresses address{.grpc = "s1:7700", .http = "s1:7780"};
  PgStore first(loop_, {.conninfo = conninfo_, .advertise = address});
  PgStore second(loop_, {conninfo_});
  const Epoch epoch = acquire(first).value().epoch;
  EXPECT_FALSE(acquire(second).is_ok());
  EXPECT_EQ(second.leader(), address);
  release(first, epoch);
  EXPECT_TRUE(acquire(second).is_ok());
  EXPECT_FALSE(acquire(first).is_ok());
  EXPECT_EQ(first.leader(), ServerAddresses{}) << "the new one has told nobody";
}

TEST_F(LeaseTest, AnOldEpochWritesNothing) {
  PgStore old_leader(loop_, {conninfo_});
  PgStore new_leader(loop_, {conninfo_});
  test::RandomCluster cluster(5);
  const Epoch old_epoch = acquire(old_leader, 1ms).value().epoch;
  ASSERT_EQ(append(old_leader, cluster.start_epoch(old_epoch)), ok());
  Epoch new_epoch;
  while (!new_epoch) {
    if (Result<Term> term = acquire(new_leader); term.is_ok()) new_epoch = term.value().epoch;
  }
  const ClusterState before = loaded(new_leader);
  const Status refused = append(old_leader, cluster.next_batch(old_epoch, 100));
  EXPECT_EQ(refused.code(), Code::aborted);
  EXPECT_THAT(refused.message(), HasSubstr("leads with epoch 2"));
  EXPECT_EQ(renew(old_leader, old_epoch, 1s).status().code(), Code::aborted);
  release(old_leader, old_epoch);
  EXPECT_TRUE(loaded(new_leader).equals(before));
  EXPECT_EQ(renew(new_leader, new_epoch, 1s).status(), ok()) << "an old release frees nothing";
  expect_ledger();
}

TEST_F(LeaseTest, NobodyAppendsAfterGivingUp) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(5);
  const Epoch epoch = acquire(store).value().epoch;
  release(store, epoch);
  EXPECT_EQ(append(store, cluster.start_epoch(epoch)).code(), Code::aborted);
  EXPECT_EQ(load(store).value().last_seq, 0);
}

TEST_F(LeaseTest, IsTakenOverWhenItEndsAndNotBefore) {
  PgStore first(loop_, {conninfo_});
  PgStore second(loop_, {conninfo_});
  constexpr Duration kLease = 500ms;
  ASSERT_TRUE(acquire(first, kLease).is_ok());
  const Term term = renew(first, Epoch{1}, kLease).value();
  while (true) {
    if (acquire(second, kLease).is_ok()) break;
    ASSERT_LT(loop_.now(), term.valid_until + 5s);
  }
  EXPECT_GE(loop_.now(), term.valid_until) << "the first still believed it led";
}

TEST_F(LeaseTest, AppendingExtendsIt) {
  PgStore first(loop_, {conninfo_});
  PgStore second(loop_, {conninfo_});
  test::RandomCluster cluster(5);
  constexpr Duration kLease = 300ms;
  const Epoch epoch = acquire(first, kLease).value().epoch;
  ASSERT_EQ(append(first, cluster.start_epoch(epoch)), ok());
  const MonoTime end = loop_.now() + 2 * kLease;
  while (loop_.now() < end) {
    const MonoTime before = loop_.now();
    ASSERT_EQ(append(first, cluster.submit_jobs(epoch, 1)), ok());
    if (!acquire(second, kLease).is_ok()) continue;
    ASSERT_GE(loop_.now() - before, kLease) << "taken while it was held";
    GTEST_SKIP() << "this machine is too slow for a lease so short";
  }
}

TEST_F(LeaseTest, ValidUntilCountsFromBeforeTheRequest) {
  PgStore store(loop_, {conninfo_});
  const MonoTime before = loop_.now();
  const Term term = acquire(store, 10s).value();
  EXPECT_GE(term.valid_until, before + 10s);
  EXPECT_LT(term.valid_until, loop_.now() + 10s);
}

// A server that was killed and started again on the same machine does not wait for its own lease.
TEST_F(LeaseTest, ADeadHolderOfThisMachineIsNotWaitedFor) {
  ASSERT_EQ(setenv("HAI_TEST_CONNINFO", conninfo_.c_str(), 1), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // A new program: threads and locks of this one are not there after fork.
    ::unsetenv("GTEST_TOTAL_SHARDS");
    ::unsetenv("GTEST_SHARD_INDEX");
    ::execl("/proc/self/exe", "integration_store", "--gtest_also_run_disabled_tests",
            "--gtest_filter=LeaseHolder.DISABLED_AcquireAndDie", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  PgStore store(loop_, {conninfo_});
  const Result<Term> term = acquire(store);
  ASSERT_TRUE(term.is_ok()) << term.status().message();
  EXPECT_EQ(term.value().epoch, Epoch{2});
}

// The child of the test above; does nothing when run by hand.
TEST(LeaseHolder, DISABLED_AcquireAndDie) {
  const char* conninfo = std::getenv("HAI_TEST_CONNINFO");
  if (conninfo == nullptr) GTEST_SKIP();
  AsioLoop loop;
  PgStore store(loop, {conninfo});
  store.acquire(10min, {}, [&](const Result<Term>& term) {
    if (term.is_ok()) ::kill(::getpid(), SIGKILL);
    loop.stop();
  });
  loop.run();
}

}  // namespace
}  // namespace hai
