// A log as its reader gets it, whatever becomes of the node it is read from.

#include "server/api/log_tail.h"

#include "server/api/event_feed.h"
#include "server/api/log_search.h"
#include "server/api/stored_logs.h"
#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

// Whole logs of rank 0, as agents read them from their files.
class LogNode final : public LogPort {
 public:
  LogNode(Loop& loop, std::string& text) : loop_(loop), text_(text) {}
  ConnectionId send_log_request(const std::string&, int64_t id,
                                const LogRequest& request) override {
    if (is_away) return {};
    loop_.call_after(takes, [this, id, request] { answer(id, request); });
    return kConnection;
  }
  void leave() {
    is_away = true;
    router->disconnected(kConnection);
  }

  LogRouter* router = nullptr;
  bool is_away = false;
  Duration takes{50ms};

 private:
  static constexpr ConnectionId kConnection{1};
  // Where there is no more it waits for some.
  void answer(int64_t id, const LogRequest& request) {
    if (is_away) return;
    const auto size = static_cast<int64_t>(text_.size());
    const int64_t offset =
        request.tail_bytes > 0 ? size - request.tail_bytes : std::min(request.offset, size);
    if (offset == size && request.wait > Duration(0)) {
      loop_.call_after(50ms, [this, id, request] { answer(id, request); });
      return;
    }
    router->answered(
        kConnection, id,
        {.data = text_.substr(static_cast<size_t>(offset)), .offset = offset, .next_offset = size});
  }

  Loop& loop_;
  const std::string& text_;
};

class LogStoreOnShare final : public StoredLogs {
 public:
  explicit LogStoreOnShare(Loop& loop) : StoredLogs(loop, {}), loop_(loop) {}
  void read(const StoredLogRequest& request, Done<StoredLogPart> done) override {
    loop_.call_after(10ms, [this, request, done] {
      const auto size = static_cast<int64_t>(text.size());
      const int64_t offset = std::min(request.offset, size);
      done(StoredLogPart{.part = {.bytes = text.substr(static_cast<size_t>(offset)),
                                  .offset = offset,
                                  .next_offset = size,
                                  .end_offset = size}});
    });
  }
  std::string text;

 private:
  Loop& loop_;
};

class LogTailTest : public ::testing::Test {
 protected:
  void SetUp() override {
    node_.router = &router_;
    for (int i = 1; i <= 2; ++i) w_.connect(*server_, i, "node-" + std::to_string(i));
    submit(*server_, job("train").nodes(2));
    w_.run(1s);
    report(RankStatus{.phase = RankPhase::running});
    ASSERT_EQ(train().state, JobState::running);
  }
  const Job& train() const { return *server_->controller.state().find(JobId{1}); }
  // Of both its ranks.
  void report(const RankStatus& status) {
    const std::vector<Rank> ranks = train().attempt->ranks;
    for (size_t i = 0; i < ranks.size(); ++i) {
      RankStatus rank = status;
      rank.key = {JobId{1}, train().attempt->number, static_cast<int>(i)};
      w_.report(*server_, ranks[i].place.node.value, ++sequence_, {rank});
    }
  }
  // Reads on until the end; `read_` is what came, `end_` why it ended.
  void read(const Source<LogPiece>& source) {
    source([this, source](Result<std::optional<LogPiece>> piece) {
      if (!piece.is_ok() || !piece.value()) {
        end_ = piece.status();
        return;
      }
      read_ += piece.value()->data;
      read(source);
    });
  }
  void tail(LogTailRequest request) {
    request.job = "1";
    read_.clear();
    end_.reset();
    read(tail_log(server_->loop, queries_, router_, {.trusted_user = "ann"}, request));
    w_.run(1s);
  }

  ControllerWorld w_;
  std::unique_ptr<Server> server_ = w_.leader();
  EventFeed feed_;
  Queries queries_{server_->controller, nullptr, feed_};
  std::string text_ = "line 1\nline 2\nline 3\n";
  LogNode node_{server_->loop, text_};
  LogStoreOnShare store_{server_->loop};
  LogRouter router_{server_->loop, node_, &store_};
  int64_t sequence_ = 1;
  std::string read_;
  std::optional<Status> end_;
};

TEST_F(LogTailTest, NoLineComesTwiceThoughTheStoreHasLessThanTheNode) {
  for (const char* stored : {"", "line 1\n", "line 1\nline 2\nline 3\n"}) {
    store_.text = stored;
    text_ = "line 1\nline 2\nline 3\n";
    tail({.follow = true});
    EXPECT_EQ(read_, text_);
    node_.leave();
    w_.run(5s);
    EXPECT_EQ(read_, text_);
    text_ += "line 4\n";
    node_.is_away = false;
    w_.run(5s);
    EXPECT_EQ(read_, text_) << "stored: " << stored;
    EXPECT_FALSE(end_);
  }
}

TEST_F(LogTailTest, ANodeThatHasLostBytesGivesNoneTwice) {
  store_.text = text_;
  node_.is_away = true;
  tail({.follow = true});
  EXPECT_EQ(read_, text_);
  text_ = "line 1\n";
  node_.is_away = false;
  w_.run(5s);
  text_ = "line 1\nline 2\nline 3\nline 4\n";
  w_.run(5s);
  EXPECT_EQ(read_, text_);
}

TEST_F(LogTailTest, TheEndThatIsAskedForIsThatOfTheNodeThoughTheStoreIsEmpty) {
  node_.is_away = true;
  tail({.tail_bytes = 7, .follow = true});
  node_.is_away = false;
  w_.run(5s);
  EXPECT_EQ(read_, "line 3\n");
}

TEST_F(LogTailTest, AnAttemptKeepsItsRanksWhateverTheJobGetsNext) {
  ASSERT_TRUE(send(*server_, SuspendJob{"1"}));
  w_.run(1s);
  report(RankStatus{.phase = RankPhase::exited, .cause = ExitCause::go_suspend});
  w_.run(1s);
  const auto edited = send(*server_, EditJob{.job = "1", .node_count = 1});
  w_.run(1s);
  ASSERT_TRUE(edited->is_ok()) << edited->reply->status().message();
  ASSERT_EQ(train().spec->node_count, 1);
  for (const bool is_followed : {false, true}) {  // over HTTP who follows is told first
    tail({.rank = 1, .follow = is_followed, .announce = is_followed});
    EXPECT_EQ(read_, text_);
    tail({.rank = 2, .follow = is_followed, .announce = is_followed});
    ASSERT_TRUE(end_);
    EXPECT_EQ(*end_, not_found("job 1 has ranks 0 to 1, not 2"));
  }
  tail({.attempt = 2, .rank = 1, .follow = true, .announce = true});
  ASSERT_TRUE(end_);
  EXPECT_EQ(*end_, not_found("job 1 has ranks 0 to 0, not 1"));
}

TEST_F(LogTailTest, ASharedJobsLogIsThatOfItsOwnersUserGroupAsLongAsOneIsOfIt) {
  const auto put = [&](const User& user) {
    const auto answer = send(*server_, SetUser{user});
    w_.run(1s);
    ASSERT_TRUE(answer->is_ok());
  };
  put({.name = "ann", .role = Role::admin, .groups = {"vision"}});
  put({.name = "bob", .groups = {"vision"}});
  w_.connect(*server_, 3, "node-3");
  const auto follow = [&](const std::string& job) {
    read_.clear();
    end_.reset();
    read(tail_log(server_->loop, queries_, router_, {.trusted_user = "bob"},
                  {.job = job, .follow = true}));
    w_.run(1s);
  };
  follow("1");
  ASSERT_TRUE(end_);
  EXPECT_EQ(end_->code(), Code::permission_denied) << "it is not shared";
  submit(*server_, job("shared").shared_in_group());
  w_.run(1s);
  follow("2");
  EXPECT_EQ(read_, text_);
  EXPECT_FALSE(end_);
  put({.name = "bob", .groups = {"audio"}});
  text_ += "line 4\n";
  w_.run(1s);
  EXPECT_EQ(read_, "line 1\nline 2\nline 3\n") << "he has left the group";
  ASSERT_TRUE(end_);
  EXPECT_EQ(end_->code(), Code::permission_denied);
}

TEST_F(LogTailTest, ASearchLeavesOutALogInWhichATimeIsNotFoundSoon) {
  LogSearches searches{server_->loop, queries_, router_};
  node_.takes = 4s;  // in time for each read, and there are several
  std::optional<Result<LogSearchPage>> page;
  searches.search({.trusted_user = "ann"},
                  {.job = "1", .text = "line", .rank = 0, .since = server_->loop.wall_now()},
                  [&](Result<LogSearchPage> found) { page = std::move(found); });
  w_.run(4s);
  EXPECT_FALSE(page);
  w_.run(2s);
  ASSERT_TRUE(page);
  ASSERT_TRUE(page->is_ok()) << page->status().message();
  ASSERT_EQ(page->value().unread.size(), 1u);
  EXPECT_EQ(page->value().unread[0].reason,
            "where its lines of that time begin was not found within 5s");
  EXPECT_EQ(page->value().next_cursor, "");
  w_.run(30s);
}

}  // namespace
}  // namespace hai::test
