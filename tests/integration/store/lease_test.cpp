// Who leads: one at a time, fenced by epoch, and taken over in time.

#include "server/store/pg_store.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "common/knobs.h"
#include "server/store/pg_session.h"
#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class LeaseTest : public StoreFixture {
 protected:
  // What was written before the database's clock was set back by an hour looks like this
  // afterwards.
  void set_clock_back() {
    PgSession session({.conninfo = conninfo_});
    session.call(
        {"set_clock_back", "UPDATE cluster_epoch SET expires_at = expires_at + interval '1 hour'"});
  }
};

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

// A wrong line in store.conninfo, or a server's folder copied from another cluster: it would take
// part in that one's lease.
TEST_F(LeaseTest, AServerTakesPartInItsOwnClusterOnly) {
  {
    PgSession session({.conninfo = conninfo_});
    session.run("COMMENT ON TABLE schema_migration IS 'hai cluster 00ff fire drill'");
  }
  PgStore foreign(loop_, {.conninfo = conninfo_, .cluster_id = "00aa"});
  const Result<Term> refused = acquire(foreign);
  EXPECT_EQ(refused.status().code(), Code::unavailable);
  EXPECT_THAT(
      refused.status().message(),
      ContainsRegex("of another cluster, fire drill .id 00ff., and this server is of the one "
                    "with id 00aa: name its own database in store.conninfo"));
  PgStore own(loop_, {.conninfo = conninfo_, .cluster_id = "00ff"});
  const Epoch epoch = acquire(own).value().epoch;
  EXPECT_EQ(epoch, Epoch{1}) << "the other has changed nothing";
  release(own, epoch);
  PgStore by_hand(loop_, {conninfo_});
  EXPECT_TRUE(acquire(by_hand).is_ok()) << "where nobody says which it is of";
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

// A replica that lacked the first acquire has become the database: the epoch is given again, to
// another one. The logs of both begin at the same number.
TEST_F(LeaseTest, AnEpochThatIsGivenAgainIsItsNewHoldersAlone) {
  PgStore first(loop_, {conninfo_});
  PgStore second(loop_, {conninfo_});
  const Epoch epoch = acquire(first).value().epoch;
  PgSession({.conninfo = conninfo_})
      .call({"go_back",
             "UPDATE cluster_epoch SET epoch = epoch - 1, holder = '', holder_process = '',"
             " expires_at = '-infinity'"});
  ASSERT_EQ(acquire(second).value().epoch, epoch);
  test::RandomCluster cluster(5);
  const AppendBatch start = cluster.start_epoch(epoch);
  EXPECT_EQ(append(first, start).code(), Code::aborted);
  EXPECT_EQ(renew(first, epoch, 30s).status().code(), Code::aborted);
  release(first, epoch);
  EXPECT_EQ(append(second, start), ok()) << "the other's release frees nothing";
  EXPECT_EQ(load(second).value().last_seq, start.events.back().seq);
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

// As when the database's clock is set back by an hour, or another machine has become the primary:
// the end of the lease is in a future that nobody lives to see.
TEST_F(LeaseTest, IsTakenFromWhoIsSilentThoughItEndsInAnHour) {
  constexpr Duration kSilence = 500ms;
  PgStore first(loop_, {conninfo_});
  PgStore second(loop_, {.conninfo = conninfo_, .lease_silence = kSilence});
  ASSERT_TRUE(acquire(first, 1s).is_ok());
  set_clock_back();
  const MonoTime begin = loop_.now();
  Result<Term> term = acquire(second, 1s);
  for (; !term.is_ok(); term = acquire(second, 1s)) {
    ASSERT_THAT(term.status().message(), ContainsRegex("its lease ends in 3[0-9]{6} ms"));
    ASSERT_LT(loop_.now(), begin + 30s);
  }
  EXPECT_GE(loop_.now(), begin + kSilence);
  EXPECT_EQ(term.value().epoch, Epoch{2});
  EXPECT_EQ(renew(first, Epoch{1}, 1s).status().code(), Code::aborted);
}

TEST_F(LeaseTest, EndsInTimeAgainAfterTheDatabasesClockWasSetBack) {
  for (const bool by_append : {false, true}) {
    PgStore first(loop_, {conninfo_});
    PgStore second(loop_, {conninfo_});
    const Epoch epoch = acquire(first, 1s).value().epoch;
    set_clock_back();
    if (by_append) {
      test::RandomCluster cluster(5);
      ASSERT_EQ(append(first, cluster.start_epoch(epoch)), ok());
    } else {
      ASSERT_TRUE(renew(first, epoch, 1s).is_ok());
    }
    ASSERT_FALSE(acquire(second).is_ok()) << "it is held";
    EXPECT_LE(second.lease_left(), 1s);
    release(first, epoch);
  }
}

TEST_F(LeaseTest, NoLeaseIsLongerThanTheSilenceOfTheDead) {
  const auto& ranges = knob_ranges();
  const auto lease = std::ranges::find(ranges, "server_lease", &KnobRange::name);
  ASSERT_NE(lease, ranges.end());
  EXPECT_GE(kLeaseSilence, 11 * Duration(lease->high) / 10) << "clocks drift";
}

TEST_F(LeaseTest, TellsTheDatabasesTime) {
  PgStore store(loop_, {conninfo_});
  const UnixTime before = loop_.wall_now();
  const UnixTime acquired = acquire(store).value().store_time.value();
  const UnixTime renewed = renew(store, Epoch{1}, 1s).value().store_time.value();
  EXPECT_LE(before, acquired);
  EXPECT_LE(acquired, renewed);
  EXPECT_LE(renewed, loop_.wall_now());
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
