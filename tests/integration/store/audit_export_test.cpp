// The audit log outside of the database: whole, in order and each entry once, whatever was away
// meanwhile.

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "server/store/archive.h"
#include "server/store/audit_line.h"
#include "tests/integration/store/audit_fixture.h"

namespace hai {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Whoever listens at a syslog's socket.
class Listener {
 public:
  explicit Listener(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    ::unlink(path.c_str());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~Listener() { ::close(socket_); }
  std::vector<std::string> messages() {
    std::string text(64 << 10, '\0');
    while (true) {
      const ssize_t size = ::recv(socket_, text.data(), text.size(), MSG_DONTWAIT);
      if (size < 0) return messages_;
      messages_.push_back(text.substr(0, static_cast<size_t>(size)));
    }
  }

 private:
  const int socket_;
  std::vector<std::string> messages_;
};

class AuditExportTest : public AuditFixture {
 protected:
  void SetUp() override {
    AuditFixture::SetUp();
    dir_ = testing::TempDir() + "hai-audit-export-" + std::to_string(::getpid());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directory(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::string path() const { return dir_ + "/audit.jsonl"; }
  std::string socket_path() const { return dir_ + "/log"; }
  AuditExportOptions to_syslog() const {
    return {.syslog = true, .position = dir_ + "/position", .syslog_socket = socket_path()};
  }

  // Runs the loop until the log says that this many entries are lacking at `place`.
  void wait_missing(const PgAuditLog& log, const std::string& place, int64_t count) {
    const MonoTime deadline = loop_.now() + 30s;
    std::function<void()> look = [&] {
      const auto missing = log.not_exported();
      const auto found = missing.find(place);
      if ((found != missing.end() && found->second == count) || loop_.now() > deadline) {
        return loop_.stop();
      }
      loop_.call_after(5ms, look);
    };
    loop_.post(look);
    loop_.run();
    ASSERT_TRUE(log.not_exported().contains(place));
    EXPECT_EQ(log.not_exported().at(place), count);
  }
  void export_all(const AuditExportOptions& options, const std::string& place = "file") {
    PgAuditLog log(loop_, conninfo_, options);
    wait_missing(log, place, 0);
  }
  std::vector<int64_t> seqs_in(const std::string& file) {
    std::vector<int64_t> seqs;
    std::ifstream lines(file);
    std::string line;
    while (std::getline(lines, line)) {
      const Result<AuditRow> row = audit_row_from_line(line);
      EXPECT_TRUE(row.is_ok()) << row.status().message() << ": " << line;
      seqs.push_back(row.is_ok() ? row.value().seq : -1);
    }
    return seqs;
  }

  std::string dir_;
};

std::vector<int64_t> range(int64_t first, int64_t last) {
  std::vector<int64_t> numbers;
  for (int64_t number = first; number <= last; ++number) numbers.push_back(number);
  return numbers;
}

TEST_F(AuditExportTest, IsWrittenAsLines) {
  PgAuditLog log(loop_, conninfo_, {.file = path()});
  ASSERT_EQ(append(log, {entry("job/1")}), ok());
  wait_missing(log, "file", 0);
  struct stat found {};
  ASSERT_EQ(::stat(path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  // Moved away, as a log's keeper does: the next line is in a new file.
  std::filesystem::rename(path(), path() + ".1");
  ASSERT_EQ(append(log, {entry("job/2")}), ok());
  wait_missing(log, "file", 0);
  for (const auto& [name, seq] : {std::pair(path() + ".1", 1), {path(), 2}}) {
    std::ifstream file(name);
    std::string line, more;
    std::getline(file, line);
    EXPECT_EQ(line, audit_line(rows()[static_cast<size_t>(seq - 1)]));
    EXPECT_FALSE(std::getline(file, more)) << more;
  }
}

TEST_F(AuditExportTest, WhatOthersWroteAndWhatWasThereBeforeFollows) {
  fill(3);
  PgAuditLog log(loop_, conninfo_, {.file = path()});
  wait_missing(log, "file", 0);
  EXPECT_EQ(seqs_in(path()), range(1, 3));
  fill(5, 4);  // by another server
  ASSERT_EQ(append(log, {entry("job/6")}), ok());
  wait_missing(log, "file", 0);
  EXPECT_EQ(seqs_in(path()), range(1, 6));
}

TEST_F(AuditExportTest, AFolderThatIsGoneLosesNothing) {
  PgAuditLog log(loop_, conninfo_, {.file = dir_ + "/sub/audit.jsonl"});
  for (int i = 0; i < 4; ++i) ASSERT_EQ(append(log, {entry("job/1")}), ok());
  wait_missing(log, "file", 4);
  std::filesystem::create_directory(dir_ + "/sub");
  wait_missing(log, "file", 0);
  EXPECT_EQ(seqs_in(dir_ + "/sub/audit.jsonl"), range(1, 4));
}

// More than a page: appends get their turn in between.
TEST_F(AuditExportTest, ALongTailComesInPages) {
  {
    PgSession session({.conninfo = conninfo_});
    append_audit(session, std::vector<AuditEntry>(AuditExport::kPage * 3 + 7, entry("job/1")));
  }
  PgAuditLog log(loop_, conninfo_, {.file = path()});
  ASSERT_EQ(append(log, {entry("job/2")}), ok());
  wait_missing(log, "file", 0);
  EXPECT_EQ(seqs_in(path()), range(1, AuditExport::kPage * 3 + 8));
}

// A page is all that one look does, however much is lacking.
TEST_F(AuditExportTest, WorkIsBounded) {
  PgSession session({.conninfo = conninfo_});
  append_audit(session, std::vector<AuditEntry>(AuditExport::kPage + 5, entry("job/1")));
  AuditExport exported({.file = path()});
  EXPECT_TRUE(exported.catch_up(session));
  EXPECT_THAT(seqs_in(path()), SizeIs(AuditExport::kPage));
  EXPECT_EQ(exported.missing().at("file"), 5);
  EXPECT_FALSE(exported.catch_up(session));
  EXPECT_EQ(exported.missing().at("file"), 0);
}

// As after a kill in the middle of a line, or on a disk that was full.
TEST_F(AuditExportTest, ALineThatWasCutOffIsWrittenWhole) {
  fill(3);
  export_all({.file = path()});
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) - 20);
  std::filesystem::remove(path() + ".position");
  fill(4, 4);
  export_all({.file = path()});
  EXPECT_EQ(seqs_in(path()), range(1, 4));
}

// A server that was killed between the line and the note of how far it came.
TEST_F(AuditExportTest, NothingIsTwiceInAFileWhosePositionIsOld) {
  fill(2);
  export_all({.file = path()});
  const std::string old = path() + ".old";
  std::filesystem::copy_file(path() + ".position", old);
  fill(4, 3);
  export_all({.file = path()});
  std::filesystem::rename(old, path() + ".position");
  fill(5, 5);
  export_all({.file = path()});
  EXPECT_EQ(seqs_in(path()), range(1, 5));
}

// The file was moved away while no server ran: the position says what is in the other one.
TEST_F(AuditExportTest, ANewFileGoesOnWhereTheOldOneEnded) {
  fill(2);
  export_all({.file = path()});
  std::filesystem::rename(path(), path() + ".1");
  fill(4, 3);
  export_all({.file = path()});
  EXPECT_EQ(seqs_in(path()), range(3, 4));
}

TEST_F(AuditExportTest, APositionThatIsNoneIsPassedOver) {
  fill(3);
  export_all({.file = path()});
  std::ofstream(path() + ".position") << "file many\n";
  fill(4, 4);
  export_all({.file = path()});
  EXPECT_EQ(seqs_in(path()), range(1, 4));
  // Nor is it replaced: it may be mended.
  std::ifstream position(path() + ".position");
  std::string line;
  std::getline(position, line);
  EXPECT_EQ(line, "file many");
}

TEST_F(AuditExportTest, WhatTheDiskDoesNotTakeFollows) {
  PgSession session({.conninfo = conninfo_});
  append_audit(session, {entry("job/1"), entry("job/2")});
  // A file may grow so far and no further, as a disk that fills up: a line is cut off in it.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  AuditExport exported({.file = path()});
  ASSERT_FALSE(exported.catch_up(session));
  const rlim_t size = std::filesystem::file_size(path());
  append_audit(session, {entry("job/3"), entry("job/4")});
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{.rlim_cur = size + 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  EXPECT_FALSE(exported.catch_up(session));
  EXPECT_EQ(exported.missing().at("file"), 2);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(std::filesystem::file_size(path()), size);
  EXPECT_FALSE(exported.catch_up(session));
  EXPECT_EQ(seqs_in(path()), range(1, 4));
}

TEST_F(AuditExportTest, TwoDoNotWriteOneFile) {
  fill(1);
  PgAuditLog log(loop_, conninfo_, {.file = path()});
  wait_missing(log, "file", 0);
  PgSession session({.conninfo = conninfo_});
  AuditExport other({.file = path(), .position = dir_ + "/other"});
  ASSERT_EQ(append(log, {entry("job/2")}), ok());
  EXPECT_FALSE(other.catch_up(session));
  EXPECT_EQ(other.missing().at("file"), 2);
  wait_missing(log, "file", 0);
  EXPECT_EQ(seqs_in(path()), range(1, 2));
}

TEST_F(AuditExportTest, SyslogGetsWhatItMissedInOrder) {
  fill(2);  // before it was wanted
  PgAuditLog log(loop_, conninfo_, to_syslog());
  wait_missing(log, "syslog", 0);
  auto listener = std::make_unique<Listener>(socket_path());
  AuditEntry refused = entry("job/3");
  refused.result = "permission_denied";
  ASSERT_EQ(append(log, {refused}), ok());
  wait_missing(log, "syslog", 0);
  ASSERT_THAT(listener->messages(), SizeIs(1));
  EXPECT_THAT(listener->messages()[0], testing::StartsWith("<85>"));
  EXPECT_THAT(listener->messages()[0], EndsWith(" hai-audit: " + audit_line(rows()[2])));
  listener.reset();
  for (int i = 4; i <= 6; ++i) ASSERT_EQ(append(log, {entry(fmt::format("job/{}", i))}), ok());
  wait_missing(log, "syslog", 3);
  listener = std::make_unique<Listener>(socket_path());
  wait_missing(log, "syslog", 0);
  ASSERT_THAT(listener->messages(), SizeIs(3));
  for (int i = 4; i <= 6; ++i) {
    EXPECT_THAT(listener->messages()[static_cast<size_t>(i - 4)],
                HasSubstr(fmt::format("{{\"seq\":{},", i)));
  }
}

TEST_F(AuditExportTest, SyslogGoesOnWhereTheLastServerWas) {
  fill(1);
  export_all(to_syslog(), "syslog");
  fill(3, 2);  // while none ran that exports
  Listener listener(socket_path());
  export_all(to_syslog(), "syslog");
  export_all(to_syslog(), "syslog");
  ASSERT_THAT(listener.messages(), SizeIs(2));
  EXPECT_THAT(listener.messages()[0], HasSubstr("{\"seq\":2,"));
}

// The file does not wait for a syslog that is gone, nor the other way round.
TEST_F(AuditExportTest, PlacesDoNotWaitForEachOther) {
  AuditExportOptions both = to_syslog();
  both.file = path();
  PgAuditLog log(loop_, conninfo_, both);
  ASSERT_EQ(append(log, {entry("job/1")}), ok());
  wait_missing(log, "file", 0);
  ASSERT_EQ(append(log, {entry("job/2")}), ok());
  wait_missing(log, "file", 0);
  EXPECT_EQ(seqs_in(path()), range(1, 2));
}

TEST_F(AuditExportTest, WhatWasArchivedFirstIsPassedOver) {
  fill(5);
  ASSERT_TRUE(archive_ledger(conninfo_,
                             {.cluster = "test", .dir = dir_, .audit_older_than = UnixTime::max()})
                  .is_ok());
  fill(6, 6);
  export_all({.file = path()});
  EXPECT_EQ(seqs_in(path()), range(5, 7));
}

// An older copy of the database was restored, or somebody has taken the newest entries away: what
// comes then is exported, and the file shows both.
TEST_F(AuditExportTest, ADatabaseThatIsBehindIsFollowed) {
  PgSession session({.conninfo = conninfo_});
  append_audit(session, {entry("job/1"), entry("job/2"), entry("job/3")});
  AuditExport exported({.file = path()});
  EXPECT_FALSE(exported.catch_up(session));
  tamper("DELETE FROM audit WHERE seq > 1");
  EXPECT_FALSE(exported.catch_up(session));
  exported.written(append_audit(session, {entry("job/20")}));
  EXPECT_EQ(exported.missing().at("file"), 0);
  EXPECT_THAT(seqs_in(path()), ElementsAre(1, 2, 3, 2));
}

// The restored database has given the numbers that were exported to other entries, and more: none
// of those is left out.
TEST_F(AuditExportTest, ARestoredDatabaseThatOvertookIsExportedFromTheLastCommonEntry) {
  PgSession session({.conninfo = conninfo_});
  append_audit(session, {entry("job/1"), entry("job/2"), entry("job/3")});
  AuditExport exported({.file = path()});
  EXPECT_FALSE(exported.catch_up(session));
  tamper("DELETE FROM audit WHERE seq > 1");
  append_audit(session, {entry("job/20"), entry("job/30")});  // the same newest number
  EXPECT_FALSE(exported.catch_up(session));
  EXPECT_THAT(seqs_in(path()), ElementsAre(1, 2, 3, 2, 3));
  EXPECT_FALSE(exported.catch_up(session));
  EXPECT_THAT(seqs_in(path()), SizeIs(5)) << "once is enough";
  tamper("DELETE FROM audit WHERE seq > 2");
  append_audit(session, {entry("job/31")});
  // What was written by this server does not follow what it has exported.
  exported.written(append_audit(session, {entry("job/32")}));
  EXPECT_THAT(seqs_in(path()), SizeIs(5));
  EXPECT_FALSE(exported.catch_up(session));
  EXPECT_THAT(seqs_in(path()), ElementsAre(1, 2, 3, 2, 3, 3, 4));
}

// Where nothing but the position is known, all goes out again that the table has.
TEST_F(AuditExportTest, ARestoredDatabaseIsExportedAnewWhereNoCommonEntryIsKnown) {
  PgSession session({.conninfo = conninfo_});
  append_audit(session, {entry("job/1"), entry("job/2"), entry("job/3")});
  export_all({.file = path()});
  std::filesystem::rename(path(), path() + ".1");
  tamper("DELETE FROM audit WHERE seq > 1");
  append_audit(session, {entry("job/20"), entry("job/30"), entry("job/40")});
  export_all({.file = path()});
  EXPECT_EQ(seqs_in(path()), range(1, 4));
}

TEST_F(AuditExportTest, NothingWrittenIsNothingExported) {
  PgSession session({.conninfo = conninfo_});
  append_audit(session, {entry("job/1")});
  AuditExport exported({.file = path()});
  EXPECT_FALSE(exported.catch_up(session));
  exported.written({});
  EXPECT_EQ(exported.missing().at("file"), 0);
  EXPECT_EQ(seqs_in(path()), range(1, 1));
}

// Entries that move into the archive while they are exported are no gap and no tampering.
TEST_F(AuditExportTest, AnArchiveRunMeanwhileIsNoBreak) {
  constexpr int kEntries = 3'000;
  PgSession session({.conninfo = conninfo_});
  append_audit(session, std::vector<AuditEntry>(kEntries, entry("job/1")));
  std::atomic<bool> is_done = false;
  testing::internal::CaptureStderr();
  std::thread archiver([&] {
    const auto archived = archive_ledger(
        conninfo_,
        {.cluster = "test", .dir = dir_, .audit_older_than = UnixTime::max(), .part_entries = 50});
    EXPECT_TRUE(archived.is_ok()) << archived.status().message();
    is_done = true;
  });
  for (int i = 0; !is_done || i == 0; ++i) {
    AuditExport exported({.file = fmt::format("{}.{}", path(), i)});
    while (exported.catch_up(session)) continue;
  }
  archiver.join();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::Not(HasSubstr("audit_export_broken")));
}

// It has nothing yet that could lack what is before its beginning.
TEST_F(AuditExportTest, ANewFileHasNoGap) {
  fill(5);
  ASSERT_TRUE(archive_ledger(conninfo_,
                             {.cluster = "test", .dir = dir_, .audit_older_than = UnixTime::max()})
                  .is_ok());
  PgSession session({.conninfo = conninfo_});
  AuditExport exported({.file = path()});
  testing::internal::CaptureStderr();
  EXPECT_FALSE(exported.catch_up(session));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::Not(HasSubstr("audit_export_gap")));
  EXPECT_EQ(seqs_in(path()), range(5, 6));
}

}  // namespace
}  // namespace hai
