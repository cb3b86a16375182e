// What operators ask about the server itself.

#include "server/api/queries.h"
#include "server/model/state_digest.h"

namespace hai {

void Queries::get_digest(const Caller& caller, Done<DigestView> done) {
  controller_.read(
      caller,
      [done](const Controller::ReadContext& context, const Actor&) {
        done(DigestView{context.state.last_seq(), digest_text(state_digest(context.state))});
      },
      done);
}

void Queries::list_audit(const Caller& caller, const AuditQuery& query,
                         Done<std::vector<AuditRow>> done) {
  controller_.read(
      caller,
      [this, query, done](const Controller::ReadContext&, const Actor&) {
        if (history_ == nullptr) return done(unavailable("this server keeps no audit log"));
        history_->audit(query, done);
      },
      done);
}

}  // namespace hai
