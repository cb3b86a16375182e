// What is appended is what a new leader loads, whatever is in it.

#include "server/store/pg_store.h"

#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

using testing::HasSubstr;

using PgStoreTest = StoreFixture;

TEST_F(PgStoreTest, LoadsWhatWasAppended) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(11);
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  for (int i = 0; i < 150; ++i) {
    ASSERT_EQ(append(store, cluster.next_batch(epoch, 1 + i % 40)), ok());
    if (i % 30 == 0) {
      EXPECT_TRUE(loaded(store).equals(unfinished(cluster.state()))) << i;
    }
  }
  EXPECT_TRUE(loaded(store).equals(unfinished(cluster.state())));
  EXPECT_GT(cluster.state().live().size(), 0u);
  expect_ledger();
}

TEST_F(PgStoreTest, KnowsRequestsOfFinishedJobsToo) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(5);
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  for (int i = 0; i < 60; ++i) {
    ASSERT_EQ(append(store, cluster.next_batch(epoch, 20)), ok());
  }
  const ClusterState now = loaded(store);
  int finished = 0;
  for (const auto& [id, job] : cluster.state().jobs()) {
    if (job.request_id.empty()) continue;
    finished += job.is_terminal() ? 1 : 0;
    EXPECT_EQ(now.find_request(job.user, job.request_id), id);
  }
  EXPECT_GT(finished, 0);
}

TEST_F(PgStoreTest, AnotherServerGoesOnWhereTheFirstStopped) {
  for (int64_t round = 1; round <= 5; ++round) {
    PgStore store(loop_, {conninfo_});
    const Term term = acquire(store).value();
    EXPECT_EQ(term.epoch, Epoch{round});
    test::RandomCluster cluster(static_cast<uint64_t>(round), loaded(store));
    ASSERT_EQ(append(store, cluster.start_epoch(term.epoch)), ok());
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(append(store, cluster.next_batch(term.epoch, 20)), ok());
    }
    EXPECT_TRUE(loaded(store).equals(unfinished(cluster.state())));
    release(store, term.epoch);
  }
  expect_ledger();
}

TEST_F(PgStoreTest, AppendedTwiceIsRefusedAndChangesNothing) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(3);
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  const AppendBatch batch = cluster.submit_jobs(epoch, 3);
  ASSERT_EQ(append(store, batch), ok());
  const Status again = append(store, batch);
  EXPECT_EQ(again.code(), Code::unavailable);
  EXPECT_EQ(again.message(), "the event log ends at 4, the batch starts at 2: reload");
  EXPECT_TRUE(loaded(store).equals(unfinished(cluster.state())));
}

TEST_F(PgStoreTest, AChangedJobWithoutARowFailsTheWholeBatch) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(3);
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  AppendBatch batch = cluster.submit_jobs(epoch, 1);
  Job stranger = batch.jobs.front();
  stranger.id = JobId{99};
  batch.jobs.push_back(stranger);
  EXPECT_THAT(append(store, batch).message(), HasSubstr("only 0 of the changed jobs have rows"));
  batch.jobs.pop_back();
  EXPECT_EQ(append(store, batch), ok()) << "and the store works on";
  expect_ledger();
}

TEST_F(PgStoreTest, TextThatPostgresRefusesIsReplaced) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(3);
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  AppendBatch batch = cluster.submit_jobs(epoch, 1);
  auto spec = std::make_shared<JobSpec>(*batch.jobs[0].spec);
  const std::string evil = std::string("a\0b", 3) + "\xff\xfe\xed\xa0\x80'; DROP TABLE job; --\\";
  spec->name = evil;
  spec->parameters = std::string(1 << 19, '"') + evil;
  spec->tags = {evil, "{}", "NULL"};
  batch.jobs[0].spec = spec;
  batch.jobs[0].hold_reason = evil;
  batch.jobs[0].whole_life_state = evil;
  std::get<JobSubmitted>(batch.events[0].body).spec = spec;
  batch.events[0].actor = evil;
  ASSERT_EQ(append(store, batch), ok());
  const StoredState state = load(store).value();
  ASSERT_EQ(state.jobs.size(), 1u);
  const std::string cleaned =
      "a\xEF\xBF\xBD"
      "b\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
      "\xEF\xBF\xBD'; DROP TABLE job; --\\";
  EXPECT_EQ(state.jobs[0].spec->name, cleaned);
  EXPECT_EQ(state.jobs[0].hold_reason, cleaned);
  EXPECT_EQ(state.jobs[0].whole_life_state, cleaned);
  EXPECT_EQ(state.jobs[0].spec->tags, (std::vector<std::string>{cleaned, "{}", "NULL"}));
  EXPECT_EQ(state.jobs[0].spec->parameters.size(), (1u << 19) + cleaned.size());
}

TEST_F(PgStoreTest, NamesTooLongForAnIndexAreRefusedBeforeAnythingIsWritten) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(3);
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  AppendBatch batch = cluster.submit_jobs(epoch, 1);
  const std::string user = batch.jobs[0].user;
  batch.jobs[0].user = std::string(5'000, 'x');
  const Status refused = append(store, batch);
  EXPECT_EQ(refused.code(), Code::invalid_argument);
  EXPECT_THAT(refused.message(), HasSubstr("5000 bytes, at most 256"));
  batch.jobs[0].user = user;
  EXPECT_EQ(append(store, batch), ok());
}

TEST_F(PgStoreTest, LongJobNamesAreKept) {
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(3);
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(append(store, cluster.start_epoch(epoch)), ok());
  AppendBatch batch = cluster.submit_jobs(epoch, 1);
  auto spec = std::make_shared<JobSpec>(*batch.jobs[0].spec);
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) spec->name += static_cast<char>(rng.between('a', 'z'));
  batch.jobs[0].spec = spec;
  ASSERT_EQ(append(store, batch), ok());
  EXPECT_EQ(load(store).value().jobs[0].spec->name, spec->name);
}

TEST_F(PgStoreTest, NoAnswerComesAfterTheStoreIsGone) {
  test::RandomCluster cluster(3);
  auto store = std::make_unique<PgStore>(loop_, PgStoreOptions{conninfo_});
  const Epoch epoch = acquire(*store).value().epoch;
  bool answered = false;
  store->append(cluster.start_epoch(epoch), [&](const Status&) { answered = true; });
  for (int i = 0; i < 10; ++i) store->load([&](const Result<StoredState>&) { answered = true; });
  store.reset();
  loop_.post([&] { loop_.stop(); });
  loop_.run();
  EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace hai
