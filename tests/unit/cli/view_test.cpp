#include <gtest/gtest.h>

#include "cli/commands/pulling.h"
#include "cli/format.h"
#include "cli/job_view.h"
#include "cli/node_view.h"

namespace hai::cli {
namespace {

v1::Job waiting_job() {
  v1::Job job;
  job.set_id(17);
  job.set_name("llm");
  job.set_user("ann");
  job.set_group("training");
  job.set_priority("normal");
  job.set_state("queued");
  job.set_node_count(4);
  job.mutable_pending_reason()->set_code("resources");
  job.mutable_pending_reason()->set_text("4 nodes asked, 1 free");
  return job;
}

v1::LogLine log_line(int rank, int64_t at_seconds, const std::string& text) {
  v1::LogLine line;
  line.set_attempt(2);
  line.set_rank(rank);
  line.set_at_us(at_seconds * 1'000'000);
  line.set_text(text);
  return line;
}

TEST(JobView, AStartingJobSaysHowFarItsImageIs) {
  v1::Attempt attempt;
  attempt.set_number(2);
  for (int rank = 0; rank < 7; ++rank) {
    v1::RankInfo& info = *attempt.add_ranks();
    info.set_rank(rank);
    info.set_node("n" + std::to_string(rank));
    info.set_phase("pending");
  }
  attempt.mutable_ranks(3)->set_phase("running");
  std::vector<v1::LogLine> lines = {
      log_line(0, 100, "hai: gets image docker://box:1"),
      log_line(0, 110, "hai: image docker://box:1: 0.9 of 4.7 GB"),
      log_line(0, 120, "hai: image docker://box:1: 1.2 of 4.7 GB"),
      log_line(1, 130, "hai: gets image docker://box:1"),
      log_line(2, 100, "hai: gets image docker://box:1"),
      log_line(2, 120, "hai: has image docker://box:1: 9Gi in 20.0 s"),
      log_line(3, 100, "hai: gets image docker://box:1"),
      log_line(4, 100, "hai: gets image docker://box:1"),
      log_line(4, 120, "hai: unpacks image docker://box:1")};
  EXPECT_EQ(pulling_text(lines, attempt, unix_micros(140'000'000)),
            "pulling docker://box:1 on n0: 1.2 of 4.7 GB, since 40s\n"
            "pulling docker://box:1 on n1 since 10s\n"
            "unpacking docker://box:1 on n4 since 40s\n");
  lines.push_back(log_line(5, 100, "hai: waits for image docker://box:1, which another rank gets"));
  lines.push_back(log_line(6, 100, "hai: gets image docker://box:1"));
  const std::string text = pulling_text(lines, attempt, unix_micros(140'000'000));
  EXPECT_NE(text.find("waiting for another rank that pulls docker://box:1 on n5 since 40s\n"),
            std::string::npos);
  EXPECT_NE(text.find("and 1 node more\n"), std::string::npos) << text;
  EXPECT_EQ(pulling_text({}, attempt, unix_micros(0)), "");
}

TEST(JobView, AWaitingJobSaysWhy) {
  EXPECT_NE(job_table({waiting_job()}, {}, {}).find("4 nodes asked, 1 free"), std::string::npos);
  const std::string card = job_card(waiting_job(), {}, unix_micros(0), {});
  EXPECT_NE(card.find("waits for     4 nodes asked, 1 free (resources)\n"), std::string::npos)
      << card;
  EXPECT_EQ(card.find("ended"), std::string::npos);
}

TEST(JobView, ARunningJobSaysWhereAndHowLong) {
  v1::Job job = waiting_job();
  job.clear_pending_reason();
  job.set_state("running");
  job.set_started_at_us(1'000'000);
  job.set_running_at_us(1'000'000);
  for (const char* node : {"node-1", "node-2", "node-3"}) job.add_nodes(node);
  const std::string table = job_table({job}, {.wide = true, .now = unix_micros(193'000'000)}, {});
  EXPECT_NE(table.find("node-[1-3]"), std::string::npos) << table;
  EXPECT_NE(table.find("3m12s"), std::string::npos) << table;
}

TEST(JobView, AHeldJobSaysSo) {
  v1::Job job = waiting_job();
  job.set_held(true);
  EXPECT_NE(job_table({job}, {}, {}).find("queued (held)"), std::string::npos);
}

TEST(NodeView, AClosedNodeSaysWhyAndWhoClosedIt) {
  v1::Node node;
  node.set_name("node-1");
  node.set_scheduling("drained");
  node.set_reason("xid 79");
  node.set_reason_by("health");
  EXPECT_NE(node_table({node}, false, {}).find("xid 79 (by health)"), std::string::npos);
}

TEST(NodeView, ACardShowsWhatIsNotWellAndCountsTheRest) {
  v1::Node node;
  node.set_name("node-1");
  node.set_reason("broken");
  for (const auto& [name, state] :
       {std::pair{"gpu_xid", "fail"}, {"ib_flaps", "warn"}, {"mount", "ok"}, {"version", "ok"}}) {
    v1::NodeCheck& check = *node.add_checks();
    check.set_name(name);
    check.set_state(state);
  }
  const std::string card = node_card(node, false, {});
  EXPECT_NE(card.find("gpu_xid"), std::string::npos) << card;
  EXPECT_NE(card.find("ib_flaps"), std::string::npos) << card;
  EXPECT_EQ(card.find("mount"), std::string::npos) << card;
  EXPECT_NE(card.find("1 fail, 2 ok, 1 warn"), std::string::npos) << card;
  EXPECT_NE(card.find("reason      broken"), std::string::npos) << card;
  EXPECT_NE(node_card(node, true, {}).find("mount"), std::string::npos);
}

TEST(JobView, ACardSaysWhyAJobThatGoesOnWasMoved) {
  v1::Job job = waiting_job();
  job.clear_pending_reason();
  job.set_state("running");
  job.set_requeue_count(1);
  v1::Attempt first;
  first.set_number(1);
  first.set_state("failed");
  first.set_ended_at_us(1);
  first.set_exit_code(0);
  first.set_end_reason("node-2: Xid 79");
  const std::string card = job_card(job, {first}, unix_micros(2), {});
  EXPECT_NE(card.find("attempt 1 failed: node-2: Xid 79"), std::string::npos) << card;
  EXPECT_NE(card.find("0 times suspended, 1 time requeued, 0 GPU seconds lost"), std::string::npos)
      << card;
}

TEST(JobView, RunTimeIsWhatItsAttemptsRan) {
  const UnixTime now = unix_micros(1'000'000'000);
  v1::Job job = waiting_job();
  EXPECT_EQ(time_run(job, now), 0s);
  job.set_started_at_us(to_micros(now - 1h));
  job.set_suspend_count(1);
  job.set_run_seconds(60);
  EXPECT_EQ(time_run(job, now), 1min) << "suspended since";
  job.set_running_at_us(to_micros(now - 5s));
  EXPECT_EQ(time_run(job, now), 65s);
  EXPECT_NE(job_card(job, {}, now, {}).find("run time      1m05s"), std::string::npos);
}

TEST(JobView, ACardSaysWhichCpusAndMemoryWereAskedFor) {
  v1::Job job = waiting_job();
  EXPECT_EQ(job_card(job, {}, {}, {}).find("CPU"), std::string::npos);
  job.mutable_spec()->set_cpus_per_node(8);
  job.mutable_spec()->set_memory_per_node_bytes(int64_t{64} << 30);
  EXPECT_NE(job_card(job, {}, {}, {}).find(", 8 CPUs and 64 GiB of memory each"),
            std::string::npos);
}

TEST(Format, DurationsAreShort) {
  EXPECT_EQ(short_duration(0s), "0s");
  EXPECT_EQ(short_duration(-5s), "0s");
  EXPECT_EQ(short_duration(59s), "59s");
  EXPECT_EQ(short_duration(3min + 7s), "3m07s");
  EXPECT_EQ(short_duration(5h + 2min), "5h02m");
  EXPECT_EQ(short_duration(75h), "3d3h");
}

TEST(Format, TimesAreAsShortAsTheDayAllows) {
  constexpr int64_t kNoon = 1'795'176'000'000'000;  // 2026-11-20 12:00 UTC: far from every midnight
  constexpr int64_t kDay = 86'400'000'000;
  const UnixTime now = unix_micros(kNoon);
  EXPECT_EQ(short_time(kNoon, now), local_time(kNoon).substr(11));
  EXPECT_EQ(short_time(kNoon - 2 * kDay, now), local_time(kNoon - 2 * kDay).substr(5, 11));
  EXPECT_EQ(short_time(kNoon - 400 * kDay, now), local_time(kNoon - 400 * kDay).substr(0, 10));
}

TEST(Format, BytesAreShort) {
  EXPECT_EQ(short_bytes(512), "512 B");
  EXPECT_EQ(short_bytes(1536), "1.5 KiB");
  EXPECT_EQ(short_bytes(int64_t{2} << 40), "2.0 TiB");
}

}  // namespace
}  // namespace hai::cli
