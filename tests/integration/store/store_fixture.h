#pragma once
// One private PostgreSQL per test program, one fresh database per test, and calls that wait for
// their answer by running the loop.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "common/asio_loop.h"
#include "server/store/history.h"
#include "server/store/migrate.h"
#include "server/store/pg_session.h"
#include "server/store/pg_store.h"
#include "server/store/verify.h"
#include "tests/support/private_postgres.h"
#include "tests/support/random_cluster.h"

namespace hai {

// How a failed expectation shows a status.
inline void PrintTo(const Status& status, std::ostream* out) {
  *out << to_string(status.code()) << ": " << status.message();
}

class StoreFixture : public testing::Test {
 protected:
  static test::PrivatePostgres& postgres() {
    static test::PrivatePostgres postgres;
    return postgres;
  }

  void SetUp() override {
    static int count = 0;
    conninfo_ = postgres().create_database("test_" + std::to_string(++count));
    const Result<MigrateResult> migrated = migrate(conninfo_);
    ASSERT_EQ(migrated.status(), ok());
  }

  // Runs the loop until `start` has called what it was given; "no answer" fails the test.
  template <typename Answer, typename Start>
  std::optional<Answer> wait(Start start, Duration limit = 30s) {
    std::optional<Answer> got;
    start([&](Answer answer) {
      got = std::move(answer);
      loop_.stop();
    });
    const TimerId timer = loop_.call_after(limit, [&] { loop_.stop(); });
    loop_.run();
    loop_.cancel(timer);
    EXPECT_TRUE(got.has_value()) << "no answer";
    return got;
  }
  // Until PostgreSQL has noticed that who held a lock of his own there was killed.
  void wait_until_unlocked() {
    PgSession session({.conninfo = conninfo_});
    const MonoTime end = loop_.now() + 30s;
    const auto is_locked = [&] {
      return session
                 .run(
                     "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database ="
                     " (SELECT oid FROM pg_database WHERE datname = current_database())")
                 .size() > 0;
    };
    while (is_locked() && loop_.now() < end) continue;
  }
  Result<Term> acquire(Store& store, Duration lease = 30s) {
    return *wait<Result<Term>>([&](auto done) { store.acquire(lease, {}, done); });
  }
  Result<Term> renew(Store& store, Epoch epoch, Duration lease) {
    return *wait<Result<Term>>([&](auto done) { store.renew(epoch, lease, done); });
  }
  void release(Store& store, Epoch epoch) {
    wait<bool>([&](auto done) { store.release(epoch, [done] { done(true); }); });
  }
  Status append(Store& store, const AppendBatch& batch) {
    return *wait<Status>([&](auto done) { store.append(batch, done); });
  }
  Result<StoredState> load(Store& store) {
    return *wait<Result<StoredState>>([&](auto done) { store.load(done); });
  }
  // What a server that starts now sees.
  ClusterState loaded(Store& store) {
    Result<StoredState> state = load(store);
    EXPECT_TRUE(state.is_ok()) << state.status().message();
    return ClusterState(std::move(state).value());
  }
  // The state without what the store does not load.
  static ClusterState unfinished(ClusterState state) {
    state.evict_finished(0);
    return state;
  }
  void expect_ledger() {
    const Result<LedgerReport> report = verify_ledger(conninfo_);
    ASSERT_TRUE(report.is_ok()) << report.status().message();
    EXPECT_THAT(report.value().differences, testing::IsEmpty());
  }

  AsioLoop loop_;
  std::string conninfo_;
};

}  // namespace hai
