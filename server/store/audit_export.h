#pragma once
// Where the audit log goes besides the database, so that whoever can change that cannot change all
// there is: a file of JSON lines, and the machine's syslog. Best kept or sent on by somebody else.
//
// Each place gets the whole log in its order, also what other servers have written, and has its own
// position. What a place does not take, because a disk is full or nobody listens, it gets as soon
// as it does again. Used by one thread.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/store/audit_chain.h"
#include "server/store/audit_positions.h"
#include "server/store/audit_sink.h"
#include "server/store/pg_session.h"

namespace hai {

struct AuditExportOptions {
  std::string file;      // appended to, for its owner alone; "" = none
  bool syslog = false;   // facility authpriv
  std::string position;  // where is kept how far it has come; "" = FILE.position
  std::string syslog_socket = "/dev/log";
};

class AuditExport {
 public:
  static constexpr int kPage = 500;  // entries at a time

  explicit AuditExport(const AuditExportOptions& options);

  bool has_places() const { return !places_.empty(); }
  // What was just written into the database. Who has all before it gets it at once.
  void written(const std::vector<AuditRow>& rows);
  // Gives each place at most kPage of the entries that it lacks. True if there are more that it
  // would take now. Throws PgError.
  bool catch_up(PgSession& session);

  // How many entries each place lacks: "file", "syslog". Any thread.
  std::map<std::string, int64_t> missing() const;

 private:
  struct Place {
    std::string name;
    std::unique_ptr<AuditSink> sink;
    std::optional<AuditChain> chain;  // up to the last entry that it has; none = not known yet
    bool is_failing = false;
  };

  void load_positions();
  // Before the first entry: a file gets all there is, syslog what comes from now on.
  void begin(Place& place, const AuditMark& last);
  // False if it takes nothing now.
  bool prepare(Place& place);
  // A position that this database does not have: goes on after the end of the archive, or goes back
  // to the last entry that both have.
  void leave_what_is_not_there(PgSession& session, Place& place, const AuditMark& anchor);
  void give(Place& place, const std::vector<AuditRow>& rows);
  void end_try(Place& place, const Status& status);
  void keep_position(const Place& place);
  void count_missing(int64_t last_seq);

  AuditPositions positions_;
  bool is_loaded_ = false;
  bool is_position_lost_ = false;  // it could not be kept
  std::vector<Place> places_;

  mutable std::mutex mutex_;
  std::map<std::string, int64_t> missing_;
};

}  // namespace hai
