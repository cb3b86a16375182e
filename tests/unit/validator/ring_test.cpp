#include "validator/ring/ring.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <thread>

#include "validator/rank_exchange.h"

namespace hai::validator {
namespace {

// A port that was free a moment ago; rank 0 takes it at once.
int free_port() {
  const Result<Listener> listener = listen_on(0);
  return listener.is_ok() ? listener.value().port : 0;
}

Place place(int rank, int ranks, int port) {
  return {.node = "node-" + std::to_string(rank),
          .job = "7",
          .attempt = "1",
          .rank = rank,
          .ranks = ranks,
          .master_address = "localhost",
          .master_port = port};
}

void on_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(ValidatorRing, AddsUpWhateverTheNumbers) {
  for (int ranks = 2; ranks <= 6; ++ranks) {
    const int port = free_port();
    on_threads(ranks, [&](int rank) {
      Result<Ring> ring = Ring::join(place(rank, ranks, port), 20s);
      ASSERT_TRUE(ring.is_ok()) << ring.status().message();
      EXPECT_EQ(ring.value().ranks(), ranks);
      EXPECT_EQ(ring.value().nodes()[static_cast<size_t>(ranks - 1)],
                "node-" + std::to_string(ranks - 1));
      for (const size_t size : {1u, 2u, 3u, 7u, 100'003u, 0u}) {
        std::vector<uint32_t> values(size), expected(size);
        for (size_t i = 0; i < size; ++i) {
          values[i] = static_cast<uint32_t>(i * 1'000'003 + static_cast<size_t>(rank) * 77);
          for (int other = 0; other < ranks; ++other)
            expected[i] += static_cast<uint32_t>(i * 1'000'003 + static_cast<size_t>(other) * 77);
        }
        const Status status = ring.value().all_reduce(values, 20s);
        ASSERT_TRUE(status.is_ok()) << status.message();
        EXPECT_EQ(values, expected) << ranks << " ranks, " << size << " values";
      }
    });
  }
}

TEST(ValidatorRing, SaysWhoDidNotCome) {
  const int port = free_port();
  on_threads(2, [&](int i) {  // ranks 0 and 2 of 4
    const Result<Ring> ring = Ring::join(place(i * 2, 4, port), 2s);
    ASSERT_FALSE(ring.is_ok());
    if (i == 0) {
      EXPECT_EQ(ring.status().message(), "ranks 1,3 of 4 did not come: no answer in time");
    } else {
      EXPECT_TRUE(ring.status().message().starts_with("rank 0 did not say who is there: "))
          << ring.status().message();
    }
  });
  const Result<Ring> alone = Ring::join(place(1, 2, port), 100ms);
  ASSERT_FALSE(alone.is_ok());
  EXPECT_TRUE(alone.status().message().starts_with("rank 0 did not come: "))
      << alone.status().message();
}

TEST(ValidatorRing, IsNotDisturbedByStrangers) {
  const int port = free_port();
  on_threads(4, [&](int i) {
    if (i < 2) {
      const Result<Ring> ring = Ring::join(place(i, 2, port), 30s);
      EXPECT_TRUE(ring.is_ok()) << ring.status().message();
      return;
    }
    const Deadline deadline(20s);
    Place other = place(1, 2, port);
    other.attempt = "2";
    Result<UniqueFd> fd = connect_to("localhost", port, deadline);
    if (!fd.is_ok()) return;  // The ring was complete before.
    // One says nothing we know; the other, of another attempt, is turned away.
    const std::string line = i == 2 ? "GET / HTTP/1.0\r\n\r\n" : "hai-validator join 7 2 1 5 x\n";
    (void)write_all(fd.value().get(), line, deadline);
  });
}

Settings settings(int rank, int ranks, int port) {
  return {.seconds = 10ms,
          .patience = 20s,
          .exchange_bytes = 1 << 20,
          .place = place(rank, ranks, port)};
}

TEST(ValidatorExchange, MeasuresAndChecksEverySum) {
  const int port = free_port();
  on_threads(3, [&](int rank) {
    const std::vector<Measurement> results = exchange_between_ranks(settings(rank, 3, port));
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0].metric, "ranks_bandwidth_3");
    EXPECT_EQ(results[0].verdict, Verdict::ok) << results[0].detail;
    EXPECT_GT(results[0].value.value_or(0), 0);
    EXPECT_TRUE(results[0].detail.starts_with("3 ranks: node-0,node-1,node-2, 1 MiB, "))
        << results[0].detail;
    EXPECT_EQ(results[1].metric, "ranks_latency_3");
    EXPECT_FALSE(results[1].higher_is_better);
  });
}

// Rank 2 takes part as the others do, but a bit of what it adds is wrong.
TEST(ValidatorExchange, FindsASumThatIsWrong) {
  const int port = free_port();
  on_threads(3, [&](int rank) {
    if (rank < 2) {
      const std::vector<Measurement> results = exchange_between_ranks(settings(rank, 3, port));
      ASSERT_EQ(results.size(), 1u);
      EXPECT_EQ(results[0].verdict, Verdict::fail);
      EXPECT_NE(results[0].detail.find("sums wrong"), std::string::npos) << results[0].detail;
      return;
    }
    Result<Ring> ring = Ring::join(place(2, 3, port), 20s);
    ASSERT_TRUE(ring.is_ok());
    uint32_t ready = 0;
    ASSERT_TRUE(ring.value().all_reduce({&ready, 1}, 20s).is_ok());
    std::vector<uint32_t> values((1 << 20) / 4, 1);
    ASSERT_TRUE(ring.value().all_reduce(values, 20s).is_ok());
  });
}

TEST(ValidatorExchange, FailsInTimeWhenARankIsGone) {
  const int port = free_port();
  on_threads(2, [&](int rank) {
    if (rank == 1) {
      EXPECT_TRUE(Ring::join(place(1, 2, port), 20s).is_ok());  // and leaves at once
      return;
    }
    const std::vector<Measurement> results = exchange_between_ranks(settings(0, 2, port));
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].verdict, Verdict::fail);
    EXPECT_EQ(results[0].metric, "ranks_bandwidth");
  });
}

TEST(ValidatorExchange, NeedsMoreThanOneRank) {
  const std::vector<Measurement> results = exchange_between_ranks({});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].verdict, Verdict::skipped);
}

}  // namespace
}  // namespace hai::validator
