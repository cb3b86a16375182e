#include "server/store/audit_export.h"

#include <algorithm>
#include <span>

#include "common/log.h"
#include "server/store/audit_file.h"
#include "server/store/audit_log.h"
#include "server/store/audit_parts.h"
#include "server/store/audit_syslog.h"
#include "server/store/pg_load.h"

namespace hai {
namespace {

std::string position_path(const AuditExportOptions& options) {
  if (!options.position.empty() || options.file.empty()) return options.position;
  return options.file + ".position";
}

bool follows(const AuditRow& row, const AuditMark& last) {
  return row.seq == last.seq + 1 && row.hash == audit_hash(last.hash, row.seq, row.entry);
}

}  // namespace

AuditExport::AuditExport(const AuditExportOptions& options) : positions_(position_path(options)) {
  if (!options.file.empty()) {
    places_.push_back({.name = "file", .sink = std::make_unique<AuditFile>(options.file)});
  }
  if (options.syslog) {
    places_.push_back(
        {.name = "syslog", .sink = std::make_unique<AuditSyslog>(options.syslog_socket)});
  }
}

void AuditExport::written(const std::vector<AuditRow>& rows) {
  if (rows.empty()) return;
  for (Place& place : places_) {
    const bool is_next = place.chain && follows(rows.front(), place.chain->last());
    if (is_next && !place.is_failing && prepare(place)) give(place, rows);
  }
  count_missing(rows.back().seq);
}

bool AuditExport::catch_up(PgSession& session) {
  load_positions();
  // hai-server archive may move entries between two questions.
  PgSnapshot snapshot(session);
  const AuditMark last = last_audit_mark(session);
  const AuditMark anchor = audit_anchor(session);
  bool has_more = false;
  for (Place& place : places_) {
    begin(place, last);
    if (place.chain && place.chain->last() == last && !place.is_failing) continue;
    if (!prepare(place)) continue;
    if (!place.chain) place.chain.emplace(anchor);
    leave_what_is_not_there(session, place, anchor);
    if (place.chain->last().seq < last.seq) {
      give(place, audit_page(session, place.chain->last().seq, kPage));
    } else {
      end_try(place, ok());
    }
    has_more |= !place.is_failing && place.chain->last().seq < last.seq;
  }
  snapshot.end();
  count_missing(last.seq);
  return has_more;
}

void AuditExport::load_positions() {
  if (std::exchange(is_loaded_, true)) return;
  const Status loaded = positions_.load();
  if (!loaded.is_ok()) log_error("audit_position_not_read", {{"reason", loaded}});
  for (Place& place : places_) {
    const std::optional<AuditMark> mark = positions_.find(place.name);
    if (mark) place.chain.emplace(*mark);
  }
}

void AuditExport::begin(Place& place, const AuditMark& last) {
  if (place.chain || place.name != "syslog") return;
  place.chain.emplace(last);
  if (last.seq > 0) keep_position(place);
}

bool AuditExport::prepare(Place& place) {
  const Result<std::optional<AuditMark>> opened = place.sink->open();
  if (!opened.is_ok()) {
    end_try(place, opened.status());
    return false;
  }
  // A server that was killed may not have kept how far it came.
  const std::optional<AuditMark>& has = opened.value();
  if (has && (!place.chain || place.chain->last().seq < has->seq)) place.chain.emplace(*has);
  return true;
}

void AuditExport::leave_what_is_not_there(PgSession& session, Place& place,
                                          const AuditMark& anchor) {
  const AuditMark at = place.chain->last();
  if (at == anchor || last_common_mark(session, {at})) return;
  if (at.seq < anchor.seq) {
    log_warning("audit_export_gap", {{"to", place.name},
                                     {"first_seq", at.seq + 1},
                                     {"last_seq", anchor.seq},
                                     {"reason", "they were archived before they were exported"}});
    place.chain.emplace(anchor);
    return;
  }
  // The same number tells nothing: a restored database has given it to another entry.
  AuditMark common = last_common_mark(session, place.sink->latest()).value_or(anchor);
  if (common.seq < anchor.seq) common = anchor;
  if (!place.is_failing) {
    log_error("audit_export_other",
              {{"to", place.name},
               {"exported", at.seq},
               {"again_after", common.seq},
               {"reason",
                "the database does not have the last exported entry: an older copy was restored, "
                "or it was changed or taken away"}});
  }
  place.chain.emplace(common);
}

void AuditExport::give(Place& place, const std::vector<AuditRow>& rows) {
  const auto first = std::ranges::find_if(
      rows, [&](const AuditRow& row) { return row.seq > place.chain->last().seq; });
  const std::span<const AuditRow> lacking(first, rows.end());
  if (lacking.empty()) return;
  size_t taken = 0;
  const Status status = place.sink->write(lacking, taken);
  std::string wrong;
  for (const AuditRow& row : lacking.first(taken)) {
    std::string broken = place.chain->add(row);
    if (wrong.empty()) wrong = std::move(broken);
  }
  if (!wrong.empty()) log_error("audit_export_broken", {{"to", place.name}, {"reason", wrong}});
  if (taken > 0) keep_position(place);
  end_try(place, status);
}

// Each change is said once, however often it is tried.
void AuditExport::end_try(Place& place, const Status& status) {
  const bool was_failing = std::exchange(place.is_failing, !status.is_ok());
  if (!status.is_ok() && !was_failing) {
    log_warning("audit_not_exported", {{"to", place.name},
                                       {"after_seq", place.chain ? place.chain->last().seq : 0},
                                       {"reason", status}});
  } else if (status.is_ok() && was_failing) {
    log_info("audit_export_goes_on",
             {{"to", place.name}, {"after_seq", place.chain ? place.chain->last().seq : 0}});
  }
}

void AuditExport::keep_position(const Place& place) {
  const Status kept = positions_.set(place.name, place.chain->last());
  if (!kept.is_ok() && !is_position_lost_) {
    log_warning("audit_position_not_kept", {{"to", place.name}, {"reason", kept}});
  }
  is_position_lost_ = !kept.is_ok();
}

void AuditExport::count_missing(int64_t last_seq) {
  const std::lock_guard lock(mutex_);
  for (const Place& place : places_) {
    const int64_t at = place.chain ? place.chain->last().seq : 0;
    missing_[place.name] = std::max<int64_t>(0, last_seq - at);
  }
}

std::map<std::string, int64_t> AuditExport::missing() const {
  const std::lock_guard lock(mutex_);
  return missing_;
}

}  // namespace hai
