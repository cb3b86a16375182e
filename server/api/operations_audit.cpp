// The audit log.

#include "common/text_check.h"
#include "server/api/answers.h"
#include "server/api/operations.h"
#include "server/api/queries.h"

namespace hai {
namespace {

bool is_result(const std::string& word) {
  if (word.empty() || word == "refused") return true;
  for (int code = 0; code <= static_cast<int>(Code::unauthenticated); ++code) {
    if (word == to_string(static_cast<Code>(code))) return true;
  }
  return false;
}

Result<AuditQuery> query_of(const v1::ListAuditRequest& request) {
  AuditQuery query{.user = request.user(),
                   .call = request.call(),
                   .result = request.result(),
                   .target = request.target()};
  if (request.has_since_us()) {
    const Result<UnixTime> since = asked_time("since", request.since_us());
    if (!since.is_ok()) return since.status();
    query.since = since.value();
  }
  if (request.has_before_seq()) query.before_seq = request.before_seq();
  if (!is_result(query.result)) {
    return invalid_argument("result: ok, refused or the word of an error, is {}",
                            printable(query.result.substr(0, 100)));
  }
  if (request.page_size() < 0 || request.page_size() > kPageMax) {
    return invalid_argument("limit: 1 to {}, is {}", kPageMax, request.page_size());
  }
  if (request.page_size() > 0) query.limit = request.page_size();
  return query;
}

void to_proto(const AuditRow& row, v1::AuditEntry& out) {
  out.set_seq(row.seq);
  out.set_at_us(to_micros(row.entry.at));
  out.set_user(row.entry.user);
  out.set_token(row.entry.token);
  out.set_address(row.entry.address);
  out.set_call(row.entry.call);
  out.set_target(row.entry.target);
  out.set_result(row.entry.result);
  out.set_text(row.entry.detail);
  out.set_hash(row.hash);
}

}  // namespace

Prepared<v1::ListAuditReply> OperationBodies::ListAudit(const v1::ListAuditRequest& request) {
  Result<AuditQuery> query = query_of(request);
  if (!query.is_ok()) return query.status();
  return [this, query = query.value()](const Caller& caller, Answer<v1::ListAuditReply> answer) {
    parts_.queries.list_audit(caller, query,
                              answer_with<std::vector<AuditRow>>(
                                  answer, [limit = query.limit](const std::vector<AuditRow>& rows,
                                                                v1::ListAuditReply& reply) {
                                    for (const AuditRow& row : rows)
                                      to_proto(row, *reply.add_entries());
                                    const bool is_full = rows.size() == static_cast<size_t>(limit);
                                    if (is_full && rows.back().seq > 1)
                                      reply.set_next_seq(rows.back().seq);
                                  }));
  };
}

}  // namespace hai
