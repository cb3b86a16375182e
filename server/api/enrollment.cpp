#include "server/api/enrollment.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/hostlist.h"
#include "server/api/identity_board.h"
#include "server/auth/token.h"
#include "server/control/nodes/agent_admission.h"
#include "server/model/cluster_state.h"

namespace hai {
namespace {

constexpr Duration kClockSkew = 1h;  // a machine whose clock is late believes it, too

// The most by which a certificate begins earlier than it is issued.
Duration skew_of(Duration life) { return std::min<Duration>(kClockSkew, life / 10); }
// A node asks again no sooner: each certificate is an event that stays.
Duration rest_of(Duration life) { return std::min<Duration>(1h, life / 20); }

// Who holds the token knows it: he may be told what became of it.
Status check_use(const Token& token, UnixTime now) {
  if (token.is_over(now)) {
    return unauthenticated("the join token ended at {}: make a new one (hai node token create)",
                           format_rfc3339(*token.expires_at));
  }
  if (token.uses_left > 0) return ok();
  return unauthenticated("the join token was used up: make a new one (hai node token create)");
}

}  // namespace

Enrollment::Enrollment(Loop& loop, Controller& controller, EnrollmentOptions options)
    : loop_(loop), controller_(controller), options_(std::move(options)) {
  if (options_.authority.empty()) return;
  maker_ = std::make_unique<CertificateMaker>(loop, options_.authority, options_.believed);
}

Status Enrollment::check_can_issue() const {
  if (maker_) return ok();
  return failed_precondition(
      "this server issues no certificates: give it the folder of its CA (tls.authority in "
      "server.yaml), or have them issued by hand (hai-server ca issue --node NAME)");
}

void Enrollment::join(const Caller& caller, const Joiner& joiner, Done done) {
  Status status = check_can_issue();
  if (status.is_ok()) status = check_token(caller, joiner.node);
  if (status.is_ok()) status = check_name(joiner.node, joiner.machine);
  if (!status.is_ok()) return done(status);
  issue(joiner.node, joiner.request, caller.token_hash, std::move(done));
}

// Its agent would be refused as long as the other one answers. Of a name whose agent is silent it
// only has to wait until that one's ranks have surely ended: that it does by itself.
Status Enrollment::check_name(const std::string& node, const AgentIdentity& newcomer) const {
  const NameOwner owner =
      owner_of_name(controller_.state(), *controller_.soft_facts().sessions, controller_.knobs(),
                    node, loop_.now(), controller_.knows_history());
  if (owner.state != OwnerState::answers) return ok();
  if (may_take_name(owner.identity, owner.state, newcomer)) return ok();
  return already_exists(
      "the name {} belongs to the machine at {}, whose agent answers, and this is another one: "
      "join under a name of its own (--name), or stop the agent there and try again when `hai "
      "nodes` no longer shows it up. The join token has lost no use",
      node, owner.identity.address.empty() ? "?" : owner.identity.address);
}

Status Enrollment::check_token(const Caller& caller, const std::string& node) {
  if (caller.token_hash.empty()) {
    return unauthenticated("no join token: show one of `hai node token create`");
  }
  const Token* token = controller_.state().find_token(caller.token_hash);
  if (token == nullptr || token->kind != TokenKind::join) {
    return unauthenticated(
        "the join token is not known here or was revoked: use one of this cluster, which hai node "
        "token create makes");
  }
  RETURN_IF_ERROR(check_use(*token, loop_.wall_now()));
  const NodeIdentity* known = controller_.state().find_identity(node);
  if (known != nullptr && known->revoked_at && token->created_at <= *known->revoked_at) {
    return permission_denied(
        "the identity of {} was revoked after this join token was made: it needs a newer one",
        node);
  }
  if (is_in_list(node, token->nodes)) return ok();
  return permission_denied("this join token is not for {}, but for {}", node.substr(0, 255),
                           token->nodes.substr(0, 200));
}

bool Enrollment::is_in_list(const std::string& node, const std::string& list) {
  if (names_.list != list) {
    const Result<std::vector<std::string>> names = parse_hostlist(list);
    if (!names.is_ok()) return false;
    names_ = {.list = list, .names = {names.value().begin(), names.value().end()}};
  }
  return names_.names.contains(node);
}

void Enrollment::renew(const std::string& node, UnixTime begins, const std::string& request,
                       Done done) {
  Status status = check_can_issue();
  if (status.is_ok()) status = check_renewal(node, begins);
  if (!status.is_ok()) return done(status);
  renewing_.insert(node);
  issue(node, request, "", [this, node, done = std::move(done)](Result<Certificate> made) {
    renewing_.erase(node);
    done(std::move(made));
  });
}

Status Enrollment::check_renewal(const std::string& node, UnixTime begins) const {
  if (renewing_.contains(node)) {
    return resource_exhausted("the certificate of {} is being renewed already", node);
  }
  const NodeIdentity* known = controller_.state().find_identity(node);
  if (known == nullptr) return ok();
  // By the state: the guard's board is told only after this server has begun to lead.
  if (known->revoked_at && begins <= *known->revoked_at) {
    return identity_revoked(node, *known->revoked_at);
  }
  if (known->serial.empty()) return ok();
  const Duration age = loop_.wall_now() - known->issued_at;
  const Duration rest = rest_of(options_.life);
  if (age < Duration(0) || age >= rest) return ok();
  return resource_exhausted("{} got a certificate at {}, and gets the next {} later", node,
                            format_rfc3339(known->issued_at), format_duration(rest));
}

// See server/api/identity_board.h: after a revocation no certificate begins before it, and none is
// issued within the second in which it happened.
Result<Validity> Enrollment::validity_for(const std::string& node) const {
  const UnixTime now = loop_.wall_now();
  Validity validity{.begins = now - skew_of(options_.life), .ends = now + options_.life};
  const NodeIdentity* known = controller_.state().find_identity(node);
  if (known == nullptr || !known->revoked_at) return validity;
  const UnixTime earliest =
      UnixTime(std::chrono::floor<std::chrono::seconds>(known->revoked_at->time_since_epoch())) +
      Duration(1s);
  if (now < earliest) {
    return unavailable("the identity of {} was revoked as of {}: try again after that", node,
                       format_rfc3339(*known->revoked_at));
  }
  validity.begins = std::max(validity.begins, earliest);
  return validity;
}

void Enrollment::issue(const std::string& node, const std::string& request,
                       const std::string& join_token, Done done) {
  const Result<Validity> validity = validity_for(node);
  if (!validity.is_ok()) return done(validity.status());
  const UnixTime now = loop_.wall_now();
  maker_->make({.node = node, .request = request, .validity = validity.value()},
               [this, node, join_token, now, done](Result<CertificateMaker::Made> made) {
                 if (!made.is_ok()) return done(made.status());
                 const IssuedCertificate& issued = made.value().issued;
                 const Token* token = controller_.state().find_token(join_token);
                 NodeIdentity identity{.node = node,
                                       .serial = issued.serial,
                                       .issued_at = now,
                                       .expires_at = issued.ends,
                                       .joined_with = token == nullptr ? "" : token_id(join_token)};
                 Certificate certificate{.certificate = issued.certificate,
                                         .authorities = made.value().authorities,
                                         .cluster = options_.cluster};
                 controller_.submit(
                     {.is_server = true},
                     IssueNodeIdentity{.identity = std::move(identity), .join_token = join_token},
                     [done, certificate](const Result<CommandReply>& durable) {
                       if (!durable.is_ok()) return done(durable.status());
                       done(certificate);
                     });
               });
}

}  // namespace hai
