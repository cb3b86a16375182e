// Old entries of the audit log leave the table for files, and whoever changes one of them there, or
// what the database says of them, is found out.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "server/store/archive.h"
#include "server/store/archive_files.h"
#include "server/store/audit_line.h"
#include "server/store/audit_parts.h"
#include "server/store/line_file.h"
#include "tests/integration/store/audit_fixture.h"

namespace hai {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AuditArchiveTest : public AuditFixture {
 protected:
  void SetUp() override {
    AuditFixture::SetUp();
    dir_ = testing::TempDir() + "hai-audit-archive-" + std::to_string(::getpid());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directory(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  // Everything but the newest entry, ten in a file.
  ArchiveOptions options() const {
    return {
        .cluster = "test", .dir = dir_, .audit_older_than = UnixTime::max(), .part_entries = 10};
  }
  ArchiveResult archive(const ArchiveOptions& options) {
    const Result<ArchiveResult> result = archive_ledger(conninfo_, options);
    EXPECT_TRUE(result.is_ok()) << result.status().message();
    return result.is_ok() ? result.value() : ArchiveResult();
  }
  std::vector<std::string> wrong() {
    const Result<LedgerReport> report = verify_ledger(conninfo_, {.archive_dir = dir_});
    EXPECT_TRUE(report.is_ok()) << report.status().message();
    return report.is_ok() ? report.value().differences : std::vector<std::string>{"no report"};
  }
  // A run that dies after this step, by SIGKILL.
  void killed_at(const std::string& last, ArchiveOptions dying) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      dying.between_steps = [&](const char* step) {
        if (step == last) ::raise(SIGKILL);
      };
      ::_exit(archive_ledger(conninfo_, dying).is_ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    wait_until_unlocked();
  }
  std::string file(int first, int last) const {
    return fmt::format("{}/hai-test-{:012}-{:012}-audit.jsonl.gz", dir_, first, last);
  }
  static std::vector<AuditRow> rows_of(const std::string& path) {
    std::vector<AuditRow> rows;
    const auto reader = LineReader::open(path);
    EXPECT_TRUE(reader.is_ok()) << reader.status().message();
    std::string_view line;
    while (reader.is_ok() && reader.value()->next(line).value()) {
      rows.push_back(audit_row_from_line(line).value());
    }
    return rows;
  }
  // Writes the file again; `has_new_sum`: and what the database says of it, as its owner can.
  void rewrite(const std::string& path, const std::vector<AuditRow>& rows, bool has_new_sum) {
    auto writer = LineWriter::create(path, /*replace=*/true);
    for (const AuditRow& row : rows) ASSERT_EQ(writer.value()->write(audit_line(row)), ok());
    ASSERT_EQ(writer.value()->finish(), ok());
    if (!has_new_sum) return;
    tamper(fmt::format("UPDATE audit_archive SET sha256 = '{}' WHERE file = '{}'",
                       sha256_of_file(path).value(), path.substr(dir_.size() + 1)));
  }

  std::string dir_;
};

TEST_F(AuditArchiveTest, MovesTheBeginningAndTheChainGoesOn) {
  fill(25);
  const std::vector<AuditRow> before = rows();
  const ArchiveResult result = archive(options());
  EXPECT_EQ(result.first_audit, 1);
  EXPECT_EQ(result.last_audit, 24);
  EXPECT_EQ(result.audit_files, 3);
  EXPECT_EQ(result.events, 0);
  EXPECT_THAT(seqs(), ElementsAre(25, 26, 27, 28)) << "an entry for each file";
  std::vector<AuditRow> archived;
  for (const auto& [first, last] : {std::pair(1, 10), {11, 20}, {21, 24}}) {
    for (AuditRow& row : rows_of(file(first, last))) archived.push_back(std::move(row));
  }
  ASSERT_THAT(archived, SizeIs(24));
  for (size_t i = 0; i < archived.size(); ++i) {
    EXPECT_EQ(archived[i].entry, before[i].entry);
    EXPECT_EQ(archived[i].hash, before[i].hash);
  }
  fill(30, 26);
  EXPECT_EQ(rows()[1].hash, audit_hash(before.back().hash, 26, rows()[1].entry));
  EXPECT_THAT(wrong(), IsEmpty());
  const LedgerReport whole = verify_ledger(conninfo_, {.archive_dir = dir_}).value();
  EXPECT_EQ(whole.audit_entries, 33);
  EXPECT_EQ(whole.archived_audit_entries, 24);
  const LedgerReport rest = verify_ledger(conninfo_).value();
  EXPECT_THAT(rest.differences, IsEmpty());
  EXPECT_EQ(rest.audit_entries, 9);
  EXPECT_EQ(rest.unread_audit_entries, 24);
  EXPECT_EQ(archive(options()).last_audit, 32);
  EXPECT_THAT(wrong(), IsEmpty());
}

TEST_F(AuditArchiveTest, KeepsWhatIsYoungAndWhatNobodyAskedFor) {
  PgAuditLog log(loop_, conninfo_);
  for (int i = 0; i < 6; ++i) {
    AuditEntry each = entry("job/1");
    each.at += i * Duration(1h);
    ASSERT_EQ(append(log, {each}), ok());
  }
  ArchiveOptions young = options();
  young.audit_older_than = UnixTime{};
  EXPECT_EQ(archive(young).audit_files, 0);
  young.audit_older_than = entry("").at + 3h;
  ArchiveOptions dry = young;
  dry.dry_run = true;
  EXPECT_EQ(archive(dry).last_audit, 3);
  EXPECT_THAT(seqs(), SizeIs(6));
  EXPECT_TRUE(std::filesystem::is_empty(dir_));
  EXPECT_EQ(archive(young).last_audit, 3);
  EXPECT_THAT(seqs(), ElementsAre(4, 5, 6, 7));
}

TEST_F(AuditArchiveTest, OnlyWhatIsArchivedMayBeDeleted) {
  fill(12);
  ArchiveOptions part = options();
  part.audit_older_than = UnixTime::max();
  archive(part);
  fill(14, 13);
  PgSession session({.conninfo = conninfo_});
  for (const char* sql : {"DELETE FROM audit WHERE seq = 13", "DELETE FROM audit",
                          "UPDATE audit_archive SET last_hash = ''", "DELETE FROM audit_archive",
                          "TRUNCATE audit_archive"}) {
    try {
      session.run(sql);
      FAIL() << sql;
    } catch (const PgError& error) {
      EXPECT_THAT(error.what(), HasSubstr("only added")) << sql;
    }
  }
  EXPECT_THAT(seqs(), ElementsAre(12, 13, 14, 15, 16));
}

// Dies between any two steps, by SIGKILL; no entry is lost or told twice, and the next run goes on.
TEST_F(AuditArchiveTest, DiesAnywhereAndLosesNothing) {
  fill(36);
  int deaths = 0;
  for (int step = 0;; ++step) {
    ASSERT_LT(step, 20);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int left = step / 2;  // each part adds an entry: there is always one more to archive
      ArchiveOptions dying = options();
      dying.between_steps = [&](const char*) {
        if (left-- == 0) ::raise(SIGKILL);
      };
      ::_exit(archive_ledger(conninfo_, dying).is_ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_THAT(wrong(), IsEmpty());
    PgSession session({.conninfo = conninfo_});
    EXPECT_EQ(verify_ledger(conninfo_, {.archive_dir = dir_}).value().audit_entries,
              36 + std::ssize(audit_parts(session)));
    if (!WIFSIGNALED(status)) {
      ASSERT_EQ(WEXITSTATUS(status), 0);
      break;
    }
    ++deaths;
  }
  EXPECT_GT(deaths, 4);
  EXPECT_GE(seqs().front(), 36);
  for (const auto& each : std::filesystem::directory_iterator(dir_)) {
    EXPECT_THAT(each.path().string(), EndsWith("-audit.jsonl.gz"));
  }
}

// The only copy of a part, called .partial when its run was killed, survives whatever comes next:
// runs with other folders, and one that finds it when it is not the last part any more.
TEST_F(AuditArchiveTest, ARecordedPartIsNeverALeftover) {
  fill(12);
  killed_at("deleted", options());
  const std::string partial = file(1, 10) + std::string(kPartialSuffix);
  ASSERT_TRUE(std::filesystem::exists(partial));
  EXPECT_EQ(seqs().front(), 11);
  ArchiveOptions elsewhere = options();
  elsewhere.dir = dir_ + "/elsewhere";
  std::filesystem::create_directory(elsewhere.dir);
  const Status refused = archive_ledger(conninfo_, elsewhere).status();
  EXPECT_EQ(refused.code(), Code::failed_precondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("has no hai-test-000000000001-"));
  EXPECT_EQ(seqs().front(), 11) << "nothing was moved";
  std::filesystem::copy_file(partial, elsewhere.dir + file(1, 10).substr(dir_.size()));
  EXPECT_EQ(archive(elsewhere).first_audit, 11);
  // Neither form of the last part is here: that is said, and nothing is lost.
  const std::string unfinished =
      dir_ + "/hai-test-000000000090-000000000099-audit.jsonl.gz.partial";
  const std::string others = dir_ + "/hai-test-2-000000000001-000000000010-audit.jsonl.gz.partial";
  for (const std::string& path : {unfinished, others}) std::ofstream(path) << "cut off";
  Status again;
  do {  // The server of the run before may not have seen yet that it is over.
    again = archive_ledger(conninfo_, options()).status();
  } while (again.message().find("under way") != std::string::npos);
  EXPECT_EQ(again.code(), Code::failed_precondition);
  EXPECT_THAT(std::string(again.message()), HasSubstr("has no hai-test-000000000011-"));
  ASSERT_THAT(rows_of(file(1, 10)), SizeIs(10));
  std::filesystem::rename(file(1, 10), partial);
  ArchiveOptions events_only = options();
  events_only.audit_older_than = UnixTime{};
  archive(events_only);
  EXPECT_THAT(rows_of(file(1, 10)), SizeIs(10));
  EXPECT_FALSE(std::filesystem::exists(unfinished));
  EXPECT_TRUE(std::filesystem::exists(others)) << "it is another cluster's";
}

// What has a recorded part's name, but is not it, is neither taken for it nor removed.
TEST_F(AuditArchiveTest, APartialThatIsNotWhatWasRecordedStays) {
  fill(12);
  killed_at("deleted", options());
  const std::string partial = file(1, 10) + std::string(kPartialSuffix);
  std::filesystem::resize_file(partial, std::filesystem::file_size(partial) - 9);
  const Status refused = archive_ledger(conninfo_, options()).status();
  EXPECT_EQ(refused.code(), Code::data_loss);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("its SHA-256 is"));
  EXPECT_TRUE(std::filesystem::exists(partial));
}

// The database went back to before a run, and its log grew again, other than it was.
TEST_F(AuditArchiveTest, AFileOfALogThatIsForgottenIsNotPassedOver) {
  fill(12);
  std::ofstream(file(1, 10)) << "of another log";
  const Status refused = archive_ledger(conninfo_, options()).status();
  EXPECT_EQ(refused.code(), Code::failed_precondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("move it away"));
  EXPECT_THAT(wrong(), IsEmpty()) << "nothing has left the table";
  std::filesystem::remove(file(1, 10));
  EXPECT_EQ(archive(options()).audit_files, 2);
}

TEST_F(AuditArchiveTest, AChangedFileIsFound) {
  fill(25);
  archive(options());
  std::vector<AuditRow> changed = rows_of(file(11, 20));
  changed[4].entry.user = "eve";
  rewrite(file(11, 20), changed, /*has_new_sum=*/false);
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("its SHA-256 is"),
                                   HasSubstr("entry 15 of the audit log, of 2027-01-15")));
  // Who can change the database, too, is found by the chain.
  rewrite(file(11, 20), changed, /*has_new_sum=*/true);
  const auto is_said_otherwise =
      HasSubstr("the audit log says of hai-test-000000000011-000000000020-audit.jsonl.gz");
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("entry 15 of the audit log"), is_said_otherwise));
  // With all hashes after it made anew the file ends otherwise than the next entry says.
  AuditMark at{10, rows_of(file(1, 10)).back().hash};
  for (AuditRow& row : changed) row.hash = at.hash = audit_hash(at.hash, row.seq, row.entry);
  rewrite(file(11, 20), changed, /*has_new_sum=*/true);
  EXPECT_THAT(wrong(),
              ElementsAre(HasSubstr("ends with entry 20 of the audit log"), is_said_otherwise));
  tamper(fmt::format("UPDATE audit_archive SET last_hash = '{}' WHERE last_seq = 20", at.hash));
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("entry 21 of the audit log"), is_said_otherwise));
}

TEST_F(AuditArchiveTest, AFileThatIsGoneOrCutOffIsFound) {
  fill(25);
  archive(options());
  const uintmax_t size = std::filesystem::file_size(file(1, 10));
  std::filesystem::resize_file(file(1, 10), size - 9);
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("its SHA-256 is")));
  std::filesystem::remove(file(1, 10));
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("can't be opened")));
}

// As on another machine than the one that archived before.
TEST_F(AuditArchiveTest, EventsDoNotWaitForAPartThatIsNotHere) {
  fill(25);
  archive(options());
  std::filesystem::remove(file(21, 24));
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(7);
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(StoreFixture::append(store, cluster.start_epoch(epoch)), ok());
  ASSERT_EQ(StoreFixture::append(store, cluster.next_batch(epoch, 200)), ok());
  ArchiveOptions all = options();
  all.older_than = UnixTime::max();
  all.keep_events = 10;
  const Result<ArchiveResult> result = archive_ledger(conninfo_, all);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("the last archived part"));
  PgSession session({.conninfo = conninfo_});
  EXPECT_LE(session.run("SELECT count(*) FROM event").integer(0, 0), 10);
}

TEST_F(AuditArchiveTest, DoesNotWaitForEventsThatCannotBeArchived) {
  fill(25);
  PgStore store(loop_, {conninfo_});
  test::RandomCluster cluster(7);
  const Epoch epoch = acquire(store).value().epoch;
  ASSERT_EQ(StoreFixture::append(store, cluster.start_epoch(epoch)), ok());
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(StoreFixture::append(store, cluster.next_batch(epoch, 50)), ok());
  }
  tamper("DELETE FROM job WHERE state IN ('succeeded', 'failed', 'stopped')");
  ArchiveOptions all = options();
  all.older_than = UnixTime::max();
  all.keep_events = 10;
  const Status failed = archive_ledger(conninfo_, all).status();
  EXPECT_EQ(failed.code(), Code::data_loss);
  EXPECT_THAT(std::string(failed.message()), HasSubstr("have rows"));
  EXPECT_THAT(seqs(), ElementsAre(25, 26, 27, 28));
  EXPECT_THAT(rows_of(file(21, 24)), SizeIs(4));
}

TEST_F(AuditArchiveTest, AChangedAnchorIsFound) {
  fill(25);
  archive(options());
  tamper("UPDATE audit_archive SET last_hash = repeat('0', 64) WHERE last_seq = 24");
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("entry 25 of the audit log"),
                                         HasSubstr("the audit log says of hai-test-000000000021")));
  EXPECT_THAT(wrong(), SizeIs(3));
  tamper("DELETE FROM audit_archive WHERE last_seq = 20");
  EXPECT_THAT(differences(), testing::Contains(HasSubstr("entries 21 to 24 of the audit log follow "
                                                         "10")));
  tamper("DELETE FROM audit_archive");
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("entry 25 of the audit log")));
}

// Whoever may write to the database can record a part that there is not, and then delete.
TEST_F(AuditArchiveTest, ABeginningDeletedBehindAForgedAnchorIsFound) {
  fill(25);
  {
    PgSession session({.conninfo = conninfo_});
    session.run(
        "INSERT INTO audit_archive SELECT 1, seq, at, hash, 'forged', repeat('0', 64), now() FROM "
        "audit WHERE seq = 20; DELETE FROM audit WHERE seq <= 20");
  }
  EXPECT_THAT(differences(),
              ElementsAre(HasSubstr("no entry of the audit log says that those up to "
                                    "20 were archived")));
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("forged: can't be opened")));
  // With an entry of its own, which the export then has, nobody says that they were looked at.
  PgSession session({.conninfo = conninfo_});
  append_audit(session, {entry_of_part(last_audit_part(session).value(), entry("").at)});
  const LedgerReport report = verify_ledger(conninfo_).value();
  EXPECT_THAT(report.differences, IsEmpty());
  EXPECT_EQ(report.unread_audit_entries, 20);
}

TEST_F(AuditArchiveTest, WhatIsTakenFromTheTableOrPutBackIsFound) {
  fill(25);
  archive(options());
  tamper(
      "INSERT INTO audit SELECT 7, at, 'eve', token, address, call, target, result, detail, hash "
      "FROM audit WHERE seq = 25");
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("entry 7 of the audit log is in the table")));
  tamper("DELETE FROM audit");
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("ends with the archived entry 24"),
                                         HasSubstr("no entry of the audit log says")));
  fill(26, 26);
  EXPECT_THAT(seqs(), ElementsAre(25)) << "goes on after the archived ones, never from 1";
}

// What is wrong stays where it can be looked at, until somebody says otherwise.
TEST_F(AuditArchiveTest, ABrokenChainIsNotMoved) {
  fill(25);
  tamper("UPDATE audit SET user_name = 'eve' WHERE seq = 15; DELETE FROM audit WHERE seq = 21");
  const Status refused = archive_ledger(conninfo_, options()).status();
  EXPECT_EQ(refused.code(), Code::data_loss);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("entry 15 of the audit log"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--audit-as-it-is"));
  EXPECT_EQ(seqs().front(), 11) << "those before it are in a file of their own";
  ArchiveOptions as_it_is = options();
  as_it_is.audit_as_it_is = true;
  archive(as_it_is);
  EXPECT_THAT(seqs(), ElementsAre(26, 27, 28));
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("entry 15 of the audit log"),
                                   HasSubstr("entries 22 to 25 of the audit log follow 20"),
                                   HasSubstr("entry 22 of the audit log")));
}

TEST_F(AuditArchiveTest, WhoGoesBackIntoTheArchiveIsTold) {
  fill(25);
  archive(options());
  fill(27, 26);
  PgSession session({.conninfo = conninfo_});
  EXPECT_THAT(targets_of(find({.call = "ControlJob"})), ElementsAre("job/27", "job/26", "job/25"));
  EXPECT_THAT(find({.user = "eve"}), IsEmpty());
  EXPECT_THAT(targets_of(find({.before_seq = 26})), ElementsAre("job/25"));
  for (const int64_t before : {25, 1}) {
    const Status told = find_audit(session, {.before_seq = before}).status();
    EXPECT_EQ(told.code(), Code::not_found);
    EXPECT_THAT(std::string(told.message()),
                HasSubstr("entries 1 to 24 of the audit log, up to 2027-01-15T08:00:00.123Z, are "
                          "archived"));
  }
  EXPECT_THAT(find({.since = entry("").at + 1s, .before_seq = 25}), IsEmpty())
      << "what is asked for is later than all that is archived";
}

}  // namespace
}  // namespace hai
