// PostgreSQL dies, hangs and comes back; whatever was answered ok is there, and nothing twice.

#include <atomic>
#include <thread>

#include "server/store/pg_worker.h"
#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

// Its own database server, which the other tests do not share.
class OutageTest : public StoreFixture {
 protected:
  void SetUp() override {
    conninfo_ = own_.create_database("outage");
    ASSERT_TRUE(migrate(conninfo_).is_ok());
  }
  // Tries until the store works again, as a server does after it has stepped down.
  Term acquire_again(Store& store) {
    const MonoTime deadline = loop_.now() + 30s;
    while (true) {
      Result<Term> term = acquire(store);
      if (term.is_ok()) return term.value();
      EXPECT_EQ(term.status().code(), Code::unavailable);
      if (loop_.now() > deadline) {
        ADD_FAILURE() << term.status().message();
        return {};
      }
    }
  }

  test::PrivatePostgres own_;
};

TEST_F(OutageTest, AKilledDatabaseIsUnavailableUntilItIsBack) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(7);
  Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  ASSERT_EQ(append(store, cluster.next_batch(epoch, 300)), ok());
  own_.kill();
  EXPECT_EQ(append(store, cluster.submit_jobs(epoch, 1)).code(), Code::unavailable);
  EXPECT_EQ(load(store).status().code(), Code::unavailable);
  own_.start();
  epoch = acquire_again(store).epoch;
  EXPECT_EQ(epoch, Epoch{2});
  test::RandomCluster again(8, loaded(store));
  EXPECT_EQ(again.state().last_seq() + 1, cluster.state().last_seq()) << "the refused submit";
  ASSERT_EQ(append(store, again.start_epoch(epoch)), ok());
  ASSERT_EQ(append(store, again.next_batch(epoch, 100)), ok());
  EXPECT_TRUE(loaded(store).equals(unfinished(again.state())));
  expect_ledger();
}

// It is interrupted again: in the moment of the first time it may just be connecting.
TEST_F(OutageTest, AWorkThatHangsAfterItsLimitEnds) {
  PgWorker worker(loop_, {.conninfo = conninfo_, .statement_timeout = 10min}, 4);
  std::atomic<bool> is_late = false;
  loop_.call_after(200ms, [&] { is_late = true; });
  const MonoTime began = loop_.now();
  const auto hang = [&](PgSession& session) {
    while (!is_late) std::this_thread::yield();  // as connecting does
    session.run("SELECT pg_sleep(600)");
    return ok();
  };
  const auto status = wait<Status>([&](auto done) { worker.submit(hang, done, 50ms); });
  EXPECT_EQ(status->code(), Code::unavailable);
  EXPECT_LT(loop_.now() - began, 20s);
}

TEST_F(OutageTest, KilledInTheMiddleOfAppendsItLosesNothingAnswered) {
  PgStore store(loop_, {conninfo_});
  for (uint64_t round = 1; round <= 4; ++round) {
    const Epoch epoch = acquire_again(store).epoch;
    test::RandomCluster cluster(round, loaded(store));
    ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
    int64_t answered = cluster.state().last_seq();
    int count = 0;
    bool failed = false;
    std::function<void()> next = [&] {
      store.append(cluster.next_batch(epoch, 10), [&](const Status& status) {
        if (!status.is_ok()) {
          failed = true;
          return loop_.stop();
        }
        answered = cluster.state().last_seq();
        next();
        // While the next one is under way.
        if (++count == 20 * static_cast<int>(round)) own_.kill();
      });
    };
    next();
    loop_.run();
    EXPECT_TRUE(failed);
    own_.start();
    acquire_again(store);
    const int64_t kept = load(store).value().last_seq;
    EXPECT_GE(kept, answered);
    EXPECT_LE(kept, cluster.state().last_seq());
    expect_ledger();
  }
}

TEST_F(OutageTest, AHangingDatabaseDoesNotHangTheStore) {
  PgStore store(loop_, {.conninfo = conninfo_, .connect_timeout = 2s, .statement_timeout = 500ms});
  test::RandomCluster cluster(7);
  const Epoch epoch = acquire(store).value().epoch;
  own_.freeze();
  const MonoTime before = loop_.now();
  EXPECT_EQ(append(store, cluster.start_epoch(epoch)).code(), Code::unavailable);
  EXPECT_EQ(load(store).status().code(), Code::unavailable);
  EXPECT_LT(loop_.now() - before, 15s);
  own_.thaw();
  // The append may have been done when the database went on; a reload tells.
  acquire_again(store);
  EXPECT_LE(load(store).value().last_seq, 1);
  expect_ledger();
}

TEST_F(OutageTest, DestroyingAStoreThatWaitsForAHangingDatabaseIsQuick) {
  const MonoTime before = loop_.now();
  {
    PgStore store(loop_, {conninfo_});
    ASSERT_TRUE(acquire(store).is_ok());
    own_.freeze();
    store.load([](const Result<StoredState>&) {});
  }
  own_.thaw();
  EXPECT_LT(loop_.now() - before, 10s);
}

}  // namespace
}  // namespace hai
