#include "server/store/mem_store.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/random_cluster.h"

namespace hai {
namespace {

class FakeLoop final : public Loop {
 public:
  MonoTime now() const override { return now_; }
  UnixTime wall_now() const override { return UnixTime(now_.time_since_epoch()); }
  void post(std::function<void()> callback) override { call_after(Duration{0}, callback); }
  TimerId call_after(Duration delay, std::function<void()> callback) override {
    timers_.emplace(std::pair{now_ + delay, ++last_}, std::move(callback));
    return last_;
  }
  void cancel(TimerId timer) override {
    std::erase_if(timers_, [&](const auto& entry) { return entry.first.second == timer; });
  }
  void run_for(Duration duration) {
    const MonoTime end = now_ + duration;
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      auto timer = timers_.extract(timers_.begin());
      now_ = timer.key().first;
      timer.mapped()();
    }
    now_ = end;
  }

 private:
  MonoTime now_{};
  TimerId last_ = 0;
  std::map<std::pair<MonoTime, TimerId>, std::function<void()>> timers_;
};

class MemStoreTest : public testing::Test {
 protected:
  Result<Term> acquire(MemStore& store, Duration lease = 2s) {
    std::optional<Result<Term>> got;
    store.acquire(lease, {}, [&](Result<Term> term) { got = std::move(term); });
    EXPECT_FALSE(got.has_value()) << "never from inside";
    loop_.run_for(100ms);
    return got.value_or(Status(Code::unknown, "no answer"));
  }
  Status append(MemStore& store, AppendBatch batch) {
    std::optional<Status> got;
    store.append(std::move(batch), [&](Status status) { got = status; });
    loop_.run_for(100ms);
    return got.value_or(Status(Code::unknown, "no answer"));
  }
  Result<StoredState> load(MemStore& store) {
    std::optional<Result<StoredState>> got;
    store.load([&](Result<StoredState> state) { got = std::move(state); });
    loop_.run_for(100ms);
    return got.value_or(Status(Code::unknown, "no answer"));
  }

  FakeLoop loop_;
  MemDatabase database_{loop_};
  MemStore store_{loop_, database_, "a"};
  MemStore other_{loop_, database_, "b"};
  test::RandomCluster cluster_{1};
};

TEST_F(MemStoreTest, LoadsWhatWasAppended) {
  const Epoch epoch = acquire(store_).value().epoch;
  EXPECT_TRUE(append(store_, cluster_.start_epoch(epoch)).is_ok());
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(append(store_, cluster_.next_batch(epoch, 10)).is_ok());
  }
  ClusterState loaded(load(store_).value());
  ClusterState replayed;
  for (const Event& event : database_.events()) replayed.apply(event);
  EXPECT_TRUE(replayed.equals(cluster_.state()));
  replayed.evict_finished(0);
  EXPECT_TRUE(loaded.equals(replayed));
}

TEST_F(MemStoreTest, OneLeadsAtATime) {
  const Term first = acquire(store_).value();
  EXPECT_EQ(first.epoch, Epoch{1});
  EXPECT_EQ(first.valid_until, MonoTime{} + 2s) << "counted from before the request";
  const Result<Term> refused = acquire(other_);
  EXPECT_EQ(refused.status().code(), Code::failed_precondition);
  EXPECT_EQ(refused.status().message(), "a leads with epoch 1");
  loop_.run_for(2s);
  EXPECT_EQ(acquire(other_).value().epoch, Epoch{2});
  EXPECT_EQ(append(store_, cluster_.start_epoch(Epoch{1})).code(), Code::aborted);
  EXPECT_TRUE(database_.events().empty());
  std::optional<Result<Term>> renewed;
  store_.renew(Epoch{1}, 2s, [&](Result<Term> term) { renewed = std::move(term); });
  loop_.run_for(100ms);
  EXPECT_EQ(renewed->status().code(), Code::aborted);
}

// As LeaseTest.AnEpochThatIsGivenAgainIsItsNewHoldersAlone of the real one (sim seed 1624457308
// --store-goes-back: two that had epoch 12 wrote the log of one).
TEST_F(MemStoreTest, AnEpochThatIsGivenAgainIsItsNewHoldersAlone) {
  MemDatabase database{loop_, {.past_kept = 10}};
  MemStore first{loop_, database, "a"};
  MemStore second{loop_, database, "b"};
  const Epoch epoch = acquire(first).value().epoch;
  database.go_back(1);
  loop_.run_for(1s);
  ASSERT_EQ(acquire(second).value().epoch, epoch);
  const AppendBatch start = cluster_.start_epoch(epoch);
  (void)append(first, start);  // over the connection that the loss has broken
  EXPECT_EQ(append(first, start).code(), Code::aborted);
  EXPECT_TRUE(database.events().empty());
  EXPECT_TRUE(append(second, start).is_ok());
  first.release(epoch, [] {});
  loop_.run_for(100ms);
  EXPECT_EQ(database.holder(), "b");
}

TEST_F(MemStoreTest, RenewingKeepsOthersOutAndReleasingLetsThemIn) {
  const Epoch epoch = acquire(store_).value().epoch;
  for (int i = 0; i < 5; ++i) {
    loop_.run_for(1s);
    store_.renew(epoch, 2s, [](Result<Term> term) { EXPECT_TRUE(term.is_ok()); });
    loop_.run_for(100ms);
    EXPECT_FALSE(acquire(other_).is_ok());
  }
  bool released = false;
  store_.release(epoch, [&] { released = true; });
  loop_.run_for(100ms);
  EXPECT_TRUE(released);
  EXPECT_TRUE(acquire(other_).is_ok());
}

TEST_F(MemStoreTest, FaultsDoWhatTheySay) {
  const Epoch epoch = acquire(store_).value().epoch;
  const AppendBatch batch = cluster_.start_epoch(epoch);
  MemFault fault = MemFault::fail_before;
  database_.hooks.fault = [&] { return fault; };
  EXPECT_EQ(append(store_, batch).code(), Code::unavailable);
  EXPECT_EQ(database_.events().size(), 0u);
  fault = MemFault::abort;
  EXPECT_EQ(append(store_, batch).code(), Code::aborted);
  EXPECT_EQ(database_.events().size(), 0u);
  fault = MemFault::fail_after;
  EXPECT_EQ(append(store_, batch).code(), Code::unavailable);
  EXPECT_EQ(database_.events().size(), 1u);
}

TEST_F(MemStoreTest, RequestsAreServedInOrder) {
  const Epoch epoch = acquire(store_).value().epoch;
  std::vector<Duration> latencies{30ms, 0ms};
  database_.hooks.latency = [&] {
    const Duration latency = latencies.front();
    latencies.erase(latencies.begin());
    return latency;
  };
  std::string order;
  store_.append(cluster_.start_epoch(epoch), [&](const Status&) { order += "append "; });
  store_.load([&](Result<StoredState> state) {
    order += "load ";
    EXPECT_EQ(state.value().last_seq, 1);
  });
  loop_.run_for(100ms);
  EXPECT_EQ(order, "append load ");
}

TEST_F(MemStoreTest, AWriteUnderWayInACrashMayOrMayNotLand) {
  for (bool lands : {true, false}) {
    MemDatabase database(loop_);
    auto store = std::make_unique<MemStore>(loop_, database, "a");
    test::RandomCluster cluster(1);
    const Epoch epoch = acquire(*store).value().epoch;
    database.hooks.latency = [] { return 20ms; };
    database.hooks.lands_on_crash = [&] { return lands; };
    store->append(cluster.start_epoch(epoch), [](const Status&) { FAIL() << "it is dead"; });
    loop_.run_for(5ms);
    store.reset();
    loop_.run_for(100ms);
    EXPECT_EQ(database.events().size(), lands ? 1u : 0u);
  }
}

TEST_F(MemStoreTest, ACrashAfterTheWriteOnlyDropsTheAnswer) {
  const Epoch epoch = acquire(store_).value().epoch;
  database_.hooks.latency = [] { return 20ms; };
  database_.hooks.lands_on_crash = [] { return false; };
  store_.append(cluster_.start_epoch(epoch), [](const Status&) { FAIL() << "it is dead"; });
  loop_.run_for(15ms);
  store_.crash();
  loop_.run_for(100ms);
  EXPECT_EQ(database_.events().size(), 1u);
}

TEST_F(MemStoreTest, LongReplaysNeedNoHistory) {
  MemDatabase database(loop_, {.keep_events = false, .keep_finished = false});
  MemStore store(loop_, database, "a");
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_TRUE(append(store, cluster_.start_epoch(epoch)).is_ok());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(append(store, cluster_.next_batch(epoch, 50)).is_ok());
  }
  EXPECT_TRUE(database.events().empty());
  EXPECT_EQ(database.stored_state().last_seq, cluster_.state().last_seq());
  for (const auto& [id, job] : database.jobs()) EXPECT_FALSE(job.is_terminal());
}

}  // namespace
}  // namespace hai
