#include "server/store/history.h"

#include <algorithm>

#include "server/store/history_queries.h"
#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

class HistoryTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    PgStore store(loop_, {conninfo_});
    const Epoch epoch = acquire(store).value().epoch;
    AppendBatch batch = cluster_.start_epoch(epoch);
    for (int i = 0; i < 40; ++i) {
      events_.insert(events_.end(), batch.events.begin(), batch.events.end());
      ASSERT_EQ(append(store, batch), ok());
      // In large ones attempts end and are followed by the next at once.
      batch = cluster_.next_batch(epoch, i % 2 == 0 ? 15 : 60);
    }
    ASSERT_EQ(append(store, batch), ok());
    events_.insert(events_.end(), batch.events.begin(), batch.events.end());
    // Every attempt as its last event left it.
    ClusterState replayed;
    for (const Event& event : events_) {
      replayed.apply(event);
      const Job* job = replayed.find(job_of(event.body));
      if (job != nullptr && job->attempt)
        attempts_[{job->id, job->attempt->number}] = *job->attempt;
    }
    history_ = std::make_unique<PgHistory>(loop_, conninfo_);
  }
  Result<std::vector<Job>> jobs(JobQuery query) {
    return *wait<Result<std::vector<Job>>>([&](auto done) { history_->jobs(query, done); });
  }
  Result<Job> job(JobKey key) {
    return *wait<Result<Job>>([&](auto done) { history_->job(key, done); });
  }
  Result<std::vector<Event>> events(EventQuery query) {
    return *wait<Result<std::vector<Event>>>([&](auto done) { history_->events(query, done); });
  }
  // Newest first, of the whole life.
  template <typename Predicate>
  std::vector<JobId> expected(Predicate wanted) {
    std::vector<JobId> ids;
    for (const auto& [id, job] : cluster_.state().jobs()) {
      if (wanted(job)) ids.insert(ids.begin(), id);
    }
    return ids;
  }
  static std::vector<JobId> ids(const Result<std::vector<Job>>& jobs) {
    EXPECT_TRUE(jobs.is_ok()) << jobs.status().message();
    std::vector<JobId> ids;
    if (!jobs.is_ok()) return ids;
    for (const Job& job : jobs.value()) ids.push_back(job.id);
    return ids;
  }

  test::RandomCluster cluster_{23};
  std::vector<Event> events_;
  std::map<std::pair<JobId, int>, Attempt> attempts_;
  std::unique_ptr<PgHistory> history_;
};

TEST_F(HistoryTest, AnswersAboutJobs) {
  const auto& all = cluster_.state().jobs();
  const Result<std::vector<Job>> everything = jobs({.limit = kHistoryPageMax});
  EXPECT_EQ(ids(everything), expected([](const Job&) { return true; }));
  for (const Job& job : everything.value()) EXPECT_EQ(job, all.at(job.id));

  EXPECT_EQ(ids(jobs({.states = {JobState::failed, JobState::stopped}})),
            expected([](const Job& job) {
              return job.state == JobState::failed || job.state == JobState::stopped;
            }));
  EXPECT_EQ(ids(jobs({.user = "user1"})),
            expected([](const Job& job) { return job.user == "user1"; }));
  const Job& some = all.rbegin()->second;
  EXPECT_EQ(ids(jobs({.name = some.spec->name})), expected([&](const Job& job) {
              return job.spec->name == some.spec->name;  // the tasks of an array share one
            }));
  EXPECT_EQ(ids(jobs({.group = "dev"})), std::vector<JobId>{});
  const auto tagged = std::ranges::find_if(all, [](const auto& entry) {
    const auto& tags = entry.second.spec->tags;
    return !tags.empty() && !tags[0].empty();
  });
  ASSERT_NE(tagged, all.end());
  const std::string tag = tagged->second.spec->tags[0];
  EXPECT_EQ(ids(jobs({.group = "training", .tag = tag})),
            expected([&](const Job& job) { return std::ranges::count(job.spec->tags, tag) > 0; }));
  EXPECT_EQ(ids(jobs({.tag = "no such\xff"})), std::vector<JobId>{});
}

TEST_F(HistoryTest, PagesJobs) {
  std::vector<JobId> paged;
  JobQuery query{.limit = 7};
  while (true) {
    const std::vector<JobId> page = ids(jobs(query));
    if (page.empty()) break;
    paged.insert(paged.end(), page.begin(), page.end());
    query.before = page.back();
  }
  EXPECT_EQ(paged, expected([](const Job&) { return true; }));
  const JobId third = paged[2];
  EXPECT_EQ(ids(jobs({.down_to = third})), std::vector<JobId>(paged.begin(), paged.begin() + 3));
  EXPECT_EQ(ids(jobs({.before = paged[1], .down_to = third})), std::vector<JobId>{third});
  EXPECT_EQ(jobs({.limit = 0}).status().code(), Code::invalid_argument);
  EXPECT_EQ(jobs({.limit = kHistoryPageMax + 1}).status().code(), Code::invalid_argument);
}

TEST_F(HistoryTest, AnIndexLeadsToTheJobsOfAName) {
  std::string condition = kBeginOfName;
  condition.replace(condition.find('$'), 1, "'train'");
  PgSession session({.conninfo = conninfo_});
  const PgResult plan = session.run(
      "BEGIN; DROP INDEX job_by_user; SET LOCAL enable_seqscan = off;"
      " EXPLAIN SELECT id FROM job WHERE user_name = 'ann' AND " +
      condition);
  std::string conditions_of_index;
  for (int row = 0; row < plan.size(); ++row) {
    if (plan.text(row, 0).find("Index Cond") != std::string_view::npos)
      conditions_of_index += plan.text(row, 0);
  }
  EXPECT_THAT(conditions_of_index, testing::HasSubstr("left"));
}

TEST_F(HistoryTest, LeavesOutJobsThatEndedBeforeATime) {
  std::vector<UnixTime> ends;
  for (const auto& [id, job] : cluster_.state().jobs()) {
    if (job.ended_at) ends.push_back(*job.ended_at);
  }
  ASSERT_GT(ends.size(), 3u);
  std::ranges::sort(ends);
  const UnixTime since = std::chrono::ceil<std::chrono::milliseconds>(ends[ends.size() / 2]);
  const auto had_not_ended = [since](const Job& job) {
    return !job.ended_at || *job.ended_at >= since;
  };
  EXPECT_EQ(ids(jobs({.ended_since = since, .limit = kHistoryPageMax})), expected(had_not_ended));
  EXPECT_LT(expected(had_not_ended).size(), cluster_.state().jobs().size());
}

// What sacct asks for of the jobs before its period: a part of the history, and of that only what
// the user's entries of the index lead to.
TEST_F(HistoryTest, AnIndexLeadsToAUsersJobsOfAPartOfTheHistory) {
  PgSession session({.conninfo = conninfo_});
  const PgResult plan = session.run(
      "BEGIN; ALTER TABLE job DROP CONSTRAINT job_pkey CASCADE; DROP INDEX job_by_name;"
      " SET LOCAL enable_seqscan = off; EXPLAIN SELECT id FROM job WHERE user_name = 'ann' AND"
      " (ended_at IS NULL OR ended_at >= '2026-11-20T08:00:00Z') AND id < 100 AND id >= 50"
      " ORDER BY id DESC LIMIT 10");
  std::string conditions_of_index;
  for (int row = 0; row < plan.size(); ++row) {
    if (plan.text(row, 0).find("Index Cond") != std::string_view::npos)
      conditions_of_index += plan.text(row, 0);
  }
  for (const char* condition : {"user_name = 'ann'", "id < 100", "id >= 50"})
    EXPECT_THAT(conditions_of_index, testing::HasSubstr(condition));
}

TEST_F(HistoryTest, FindsOneJob) {
  const Job& some = cluster_.state().jobs().begin()->second;
  EXPECT_EQ(job({.job = some.id}).value(), some);
  EXPECT_EQ(job({.user = some.user, .name = some.spec->name}).value(), some);
  int tasks = 0;
  for (const auto& [id, each] : cluster_.state().jobs()) {
    if (!each.array_task) continue;
    ++tasks;
    const Result<Job> named = job({.user = each.user, .name = each.spec->name});
    EXPECT_EQ(named.value().id, each.array_task->array) << "its tasks have its name, and are newer";
    const Result<Job> task = job({.user = "ann", .name = "1_1", .task = each.array_task});
    ASSERT_TRUE(task.is_ok()) << task.status().message();
    EXPECT_EQ(task.value(), each);
  }
  EXPECT_GT(tasks, 0);
  EXPECT_EQ(job({.job = JobId{987'654}}).status().message(), "job 987654 does not exist");
  EXPECT_EQ(job({.user = "ann", .name = "x"}).status().message(), "job x of ann");
  const ArrayTask no_task{some.id, 10'000'001};
  EXPECT_EQ(job({.user = some.user, .name = some.spec->name, .task = no_task}).value(), some)
      << "a job may be called so";
  EXPECT_EQ(job({.user = "ann"}).status().code(), Code::invalid_argument);
}

TEST_F(HistoryTest, GivesAllAttempts) {
  size_t most = 0;
  for (const auto& [id, job] : cluster_.state().jobs()) {
    const auto attempts = *wait<Result<std::vector<Attempt>>>(
        [&, id = id](auto done) { history_->attempts(id, done); });
    ASSERT_TRUE(attempts.is_ok()) << attempts.status().message();
    // Numbers may be skipped, so their count is that of the attempts known.
    std::vector<Attempt> expected;
    for (const auto& [key, attempt] : attempts_) {
      if (key.first == id) expected.push_back(attempt);
    }
    EXPECT_EQ(attempts.value(), expected) << id.value;
    EXPECT_EQ(expected.empty() ? 0 : expected.back().number, job.attempt_number());
    most = std::max(most, attempts.value().size());
  }
  EXPECT_GT(most, 1u) << "the history has no job with two attempts";
}

TEST_F(HistoryTest, PagesEventsBothWays) {
  const auto numbers = [](const Result<std::vector<Event>>& events) {
    EXPECT_TRUE(events.is_ok()) << events.status().message();
    std::vector<int64_t> numbers;
    for (const Event& event : events.value()) numbers.push_back(event.seq);
    return numbers;
  };
  const auto last = static_cast<int64_t>(events_.size());
  EXPECT_EQ(numbers(events({.after_seq = 2, .limit = 3})), (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(numbers(events({.before_seq = 4})), (std::vector<int64_t>{3, 2, 1}));
  EXPECT_EQ(numbers(events({.limit = 2})), (std::vector<int64_t>{last, last - 1}));
  std::vector<int64_t> wanted;
  for (const Event& event : events_) {
    if (job_of(event.body) == JobId{1}) wanted.push_back(event.seq);
  }
  EXPECT_EQ(numbers(events({.after_seq = 0, .job = JobId{1}})), wanted);
  wanted.clear();
  for (const Event& event : events_) {
    if (node_of(event.body) == NodeId{2}) wanted.insert(wanted.begin(), event.seq);
  }
  EXPECT_EQ(numbers(events({.node = NodeId{2}})), wanted);
  EXPECT_EQ(events({.job = JobId{1}, .node = NodeId{1}}).status().code(), Code::invalid_argument);
}

TEST_F(HistoryTest, TellsWhoWasOnANode) {
  const NodeId node = cluster_.state().nodes().begin()->first;
  std::map<std::tuple<JobId, int, int>, const Attempt*> expected;
  for (const auto& [key, attempt] : attempts_) {
    for (size_t rank = 0; rank < attempt.ranks.size(); ++rank) {
      if (attempt.ranks[rank].place.node != node) continue;
      expected[{key.first, key.second, static_cast<int>(rank)}] = &attempt;
    }
  }
  ASSERT_GT(expected.size(), 3u);
  const auto stays_of = [&](int limit) {
    return *wait<Result<std::vector<NodeStay>>>(
        [&](auto done) { history_->stays(node, limit, done); });
  };
  const std::vector<NodeStay> stays = stays_of(kHistoryPageMax).value();
  ASSERT_EQ(stays.size(), expected.size());
  for (const NodeStay& stay : stays) {
    const auto it = expected.find({stay.job, stay.attempt, stay.rank});
    ASSERT_NE(it, expected.end());
    EXPECT_EQ(stay.state, it->second->state);
    EXPECT_EQ(stay.placed_at, it->second->placed_at);
    EXPECT_EQ(stay.ended_at, it->second->ended_at);
    EXPECT_EQ(stay.end_reason, it->second->end ? it->second->end->reason : "");
    EXPECT_EQ(stay.name, cluster_.state().find(stay.job)->spec->name);
    EXPECT_EQ(stay.user, cluster_.state().find(stay.job)->user);
  }
  EXPECT_TRUE(std::ranges::is_sorted(stays, std::ranges::greater{}, &NodeStay::placed_at));
  EXPECT_EQ(stays_of(2).value().size(), 2u);
  EXPECT_EQ(stays_of(0).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace hai
