#include "cli/follow.h"

#include <gtest/gtest.h>

#include <mutex>

#include "cli/client.h"
#include "tests/unit/cli/fake_api.h"

namespace hai::cli {
namespace {

TEST(LastLines, ALineWithoutAnEndIsALine) {
  EXPECT_EQ(start_of_last_lines("a\nbb\nccc\n", 1), 5u);
  EXPECT_EQ(start_of_last_lines("a\nbb\nccc", 1), 5u);
  EXPECT_EQ(start_of_last_lines("a\nbb\nccc\n", 2), 2u);
  EXPECT_EQ(start_of_last_lines("a\n\n\n", 2), 2u) << "empty ones too";
}

TEST(LastLines, MoreThanThereAreIsAll) {
  EXPECT_EQ(start_of_last_lines("a\nbb\nccc\n", 3), std::nullopt) << "nothing stands before them";
  EXPECT_EQ(start_of_last_lines("a", 1), std::nullopt);
  EXPECT_EQ(start_of_last_lines("\n", 1), std::nullopt);
  EXPECT_EQ(start_of_last_lines("", 1), std::nullopt);
}

v1::Job job_in(const std::string& state, int attempt, const std::string& attempt_state) {
  v1::Job job;
  job.set_id(17);
  job.set_state(state);
  job.set_attempt(attempt);
  job.set_attempt_state(attempt_state);
  return job;
}

v1::ReadLogReply chunk(const std::string& data, int64_t offset, bool end) {
  v1::ReadLogReply reply;
  reply.set_data(data);
  reply.set_offset(offset);
  reply.set_end(end);
  return reply;
}

// What is printed and what is said of a log that comes in these pieces.
std::pair<std::string, std::string> shown_log(const std::vector<v1::ReadLogReply>& pieces) {
  FakeApi server;
  server.on_get_job = [](const auto&, v1::Job* reply) {
    *reply = job_in("failed", 1, "failed");
    return grpc::Status::OK;
  };
  server.on_read_log = [&](const auto&, grpc::ServerWriter<v1::ReadLogReply>* writer) {
    for (const v1::ReadLogReply& piece : pieces) writer->Write(piece);
    return grpc::Status::OK;
  };
  Client client({server.address()}, "");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Status status = print_log(client, {.job = "17"});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(status.is_ok()) << status.message();
  return {testing::internal::GetCapturedStdout(), said};
}

TEST(RotatedLog, SaysThatItsBeginningIsGone) {
  const auto [text, said] = shown_log({chunk("three\n", 8, true)});
  EXPECT_EQ(text, "three\n");
  EXPECT_EQ(said,
            "hai: the first 8 bytes of the log are not kept any more: it begins after them\n");
  EXPECT_EQ(shown_log({chunk("one\n", 0, true)}).second, "");
}

TEST(RotatedLog, SaysWhatIsMissingInTheMiddle) {
  const auto [text, said] = shown_log({chunk("one\n", 0, false), chunk("four\n", 14, true)});
  EXPECT_EQ(text, "one\nfour\n");
  EXPECT_EQ(said, "hai: 10 bytes of the log are gone: it was rotated\n");
}

TEST(SlowNode, IsAskedAgainForTheLogOfAJobThatHasEnded) {
  FakeApi server;
  server.on_get_job = [](const auto&, v1::Job* reply) {
    *reply = job_in("succeeded", 1, "succeeded");
    return grpc::Status::OK;
  };
  server.on_watch_job = [](const auto&, grpc::ServerWriter<v1::Job>* writer) {
    writer->Write(job_in("succeeded", 1, "succeeded"));
    return grpc::Status::OK;
  };
  int asked = 0;
  server.on_read_log = [&](const auto&, grpc::ServerWriter<v1::ReadLogReply>* writer) {
    if (++asked == 1) return grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "no answer");
    writer->Write(chunk("one\n", 0, true));
    return grpc::Status::OK;
  };
  Client client({server.address()}, "");
  testing::internal::CaptureStdout();
  const Result<v1::Job> job = follow_job(client, {.job = "17", .follow = true});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "one\n");
  ASSERT_TRUE(job.is_ok()) << job.status().message();
  EXPECT_EQ(job.value().state(), "succeeded");
  EXPECT_EQ(asked, 2);
}

// A job that is suspended once: attempt 1 logs "one", attempt 2 "two".
class SuspendedOnce : public testing::Test {
 protected:
  SuspendedOnce() {
    server_.on_get_job = [this](const auto&, v1::Job* reply) {
      const std::lock_guard lock(mutex_);
      *reply = now_;
      return grpc::Status::OK;
    };
    server_.on_watch_job = [this](const auto&, grpc::ServerWriter<v1::Job>* writer) {
      const std::lock_guard lock(mutex_);
      if (logs_read_ == 0) now_ = job_in("running", 1, "running");
      if (logs_read_ == 1) {
        writer->Write(job_in("suspended", 1, "suspended"));
        now_ = job_in("running", 2, "running");
      }
      if (logs_read_ == 2) {
        now_ = job_in("failed", 2, "failed");
        now_.set_exit_code(7);
      }
      writer->Write(now_);
      return grpc::Status::OK;
    };
    server_.on_read_log = [this](const v1::ReadLogRequest& request,
                                 grpc::ServerWriter<v1::ReadLogReply>* writer) {
      const std::lock_guard lock(mutex_);
      EXPECT_EQ(request.attempt(), logs_read_ + 1);
      EXPECT_EQ(request.job(), "17");
      writer->Write(chunk(request.attempt() == 1 ? "one\n" : "two\n", 0, true));
      ++logs_read_;
      return grpc::Status::OK;
    };
  }

  std::mutex mutex_;
  int logs_read_ = 0;
  v1::Job now_ = job_in("queued", 0, "");
  FakeApi server_;
};

TEST_F(SuspendedOnce, FollowingGoesOnThroughTheNextAttempt) {
  Client client({server_.address()}, "");
  testing::internal::CaptureStdout();
  const Result<v1::Job> job = follow_job(client, {.job = "17", .follow = true});
  const std::string output = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(job.is_ok()) << job.status().message();
  EXPECT_EQ(output, "one\ntwo\n");
  EXPECT_EQ(job.value().state(), "failed");
  EXPECT_EQ(job.value().exit_code(), 7);
}

TEST(Follow, ARankThatEndsBeforeOthersAreUpIsNotWaitedForAgain) {
  FakeApi server;
  server.on_get_job = [](const auto&, v1::Job* reply) {
    *reply = job_in("queued", 1, "starting");
    return grpc::Status::OK;
  };
  int watched = 0;
  server.on_watch_job = [&](const auto&, grpc::ServerWriter<v1::Job>* writer) {
    writer->Write(job_in("queued", 1, "starting"));
    if (++watched == 2) writer->Write(job_in("succeeded", 1, "succeeded"));
    return grpc::Status::OK;
  };
  server.on_read_log = [](const auto&, grpc::ServerWriter<v1::ReadLogReply>* writer) {
    writer->Write(chunk("done\n", 0, true));
    return grpc::Status::OK;
  };
  Client client({server.address()}, "");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Result<v1::Job> job = follow_job(client, {.job = "17", .follow = true});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "done\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_TRUE(job.is_ok()) << job.status().message();
  EXPECT_EQ(watched, 2);
}

TEST(Follow, ABrokenLogStreamGoesOnAtTheByteWhereItStopped) {
  FakeApi server;
  server.on_get_job = [](const auto&, v1::Job* reply) {
    *reply = job_in("running", 1, "running");
    return grpc::Status::OK;
  };
  std::vector<int64_t> offsets;
  server.on_watch_job = [&](const auto&, grpc::ServerWriter<v1::Job>* writer) {
    writer->Write(offsets.empty() ? job_in("running", 1, "running")
                                  : job_in("succeeded", 1, "succeeded"));
    return grpc::Status::OK;
  };
  server.on_read_log = [&](const v1::ReadLogRequest& request,
                           grpc::ServerWriter<v1::ReadLogReply>* writer) {
    offsets.push_back(request.offset());
    if (offsets.size() == 1) {
      writer->Write(chunk("hello ", 0, false));
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "going away");
    }
    writer->Write(chunk("world\n", 6, true));
    return grpc::Status::OK;
  };
  Client client({server.address()}, "");
  testing::internal::CaptureStdout();
  const Result<v1::Job> job = follow_job(client, {.job = "17", .follow = true});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "hello world\n");
  ASSERT_TRUE(job.is_ok()) << job.status().message();
  EXPECT_EQ(offsets, (std::vector<int64_t>{-1, 6}));
}

// An operator who became a user, say. The job goes on, and he sees that it does.
TEST(Follow, EndsWhenTheLogMayNotBeReadAnyMore) {
  FakeApi server;
  server.on_get_job = [](const auto&, v1::Job* reply) {
    *reply = job_in("running", 1, "running");
    return grpc::Status::OK;
  };
  int watched = 0;
  server.on_watch_job = [&](const auto&, grpc::ServerWriter<v1::Job>* writer) {
    writer->Write(++watched == 1 ? job_in("running", 1, "running")
                                 : job_in("succeeded", 1, "succeeded"));
    return grpc::Status::OK;
  };
  server.on_read_log = [&](const auto&, grpc::ServerWriter<v1::ReadLogReply>* writer) {
    writer->Write(chunk("hello\n", 0, false));
    return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "no operator any more");
  };
  Client client({server.address()}, "");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Result<v1::Job> job = follow_job(client, {.job = "17", .follow = true});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "hello\n");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no operator any more"), std::string::npos);
  EXPECT_EQ(job.status().code(), Code::permission_denied);
  EXPECT_EQ(watched, 1) << "and nobody waits for the job's end";
}

TEST(Follow, WaitingEndsWithTheJob) {
  FakeApi server;
  server.on_watch_job = [](const auto&, grpc::ServerWriter<v1::Job>* writer) {
    writer->Write(job_in("running", 1, "running"));
    writer->Write(job_in("succeeded", 1, "succeeded"));
    return grpc::Status::OK;
  };
  Client client({server.address()}, "");
  const Result<v1::Job> job = wait_for_job(client, "17", std::nullopt);
  ASSERT_TRUE(job.is_ok()) << job.status().message();
  EXPECT_EQ(job.value().state(), "succeeded");
}

TEST(Follow, WaitingHasALimit) {
  FakeApi server;
  server.on_watch_job = [](const auto&, grpc::ServerWriter<v1::Job>* writer) {
    while (writer->Write(job_in("running", 1, "running"))) continue;
    return grpc::Status::OK;
  };
  Client client({server.address()}, "");
  EXPECT_EQ(wait_for_job(client, "17", 100ms).status(),
            deadline_exceeded("job 17 has not ended within 100ms"));
}

TEST(Follow, AnUnknownJobIsNotWaitedFor) {
  FakeApi server;
  server.on_watch_job = [](const auto&, auto*) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "no job 99");
  };
  Client client({server.address()}, "");
  EXPECT_EQ(wait_for_job(client, "99", std::nullopt).status(), not_found("no job 99"));
}

TEST(ClientStop, EndsTheStreamUnderWayAndAllLaterCalls) {
  FakeApi server;
  server.on_watch_job = [](const auto&, grpc::ServerWriter<v1::Job>* writer) {
    while (writer->Write(job_in("running", 1, "running"))) continue;
    return grpc::Status::OK;
  };
  server.on_get_job = [](const auto&, v1::Job* reply) {
    *reply = job_in("running", 1, "running");
    return grpc::Status::OK;
  };
  Client client({server.address()}, "");
  const auto other = client.clone();
  const Status status = client.watch_job({}, [&](const v1::Job&) {
    client.stop();
    return true;
  });
  EXPECT_EQ(status.code(), Code::cancelled);
  EXPECT_EQ(client.get_job({}).status().code(), Code::cancelled);
  EXPECT_TRUE(other->get_job({}).is_ok()) << "a clone is not stopped with it";
}

}  // namespace
}  // namespace hai::cli
