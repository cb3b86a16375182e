// Identities of nodes: tokens with which machines join, and the certificates made for them.

#include "common/hostlist.h"
#include "common/json/json_text.h"
#include "common/tls/request.h"
#include "server/api/actions.h"
#include "server/api/answers.h"
#include "server/api/enrollment.h"
#include "server/api/operations.h"
#include "server/api/queries.h"
#include "server/api/text_limits.h"
#include "server/auth/token.h"

namespace hai {
namespace {

constexpr size_t kListBytesMax = 64 << 10;
constexpr size_t kIdentityBytesMax = 255;
constexpr Duration kJoinTtl = 1h;
constexpr Duration kJoinTtlMax = 30 * Duration(24h);

void to_proto(const Token& token, v1::JoinToken& out) {
  out.set_id(token_id(token.hash));
  out.set_nodes(token.nodes);
  out.set_user(clean_utf8(token.user));
  out.set_label(clean_utf8(token.label));
  out.set_created_at_us(to_micros(token.created_at));
  if (token.expires_at) out.set_expires_at_us(to_micros(*token.expires_at));
  out.set_uses_left(token.uses_left);
}

void to_proto(const NodeIdentity& identity, v1::NodeIdentity& out) {
  out.set_node(identity.node);
  out.set_serial(identity.serial);
  out.set_issued_at_us(to_micros(identity.issued_at));
  out.set_expires_at_us(to_micros(identity.expires_at));
  if (identity.revoked_at) out.set_revoked_at_us(to_micros(*identity.revoked_at));
  out.set_joined_with(identity.joined_with);
}

Result<Duration> ttl_of(const std::string& text) {
  if (text.empty()) return kJoinTtl;
  const Result<Duration> ttl = parse_duration(text);
  if (!ttl.is_ok()) return invalid_argument("ttl: {}", ttl.status().message());
  if (ttl.value() >= Duration(1s) && ttl.value() <= kJoinTtlMax) return ttl;
  return invalid_argument("ttl: allowed is 1s to {}, not {}", format_duration(kJoinTtlMax), text);
}

// In its shortest form, as it is shown again.
Result<std::string> list_of(const std::string& text) {
  if (text.size() > kListBytesMax) {
    return invalid_argument("nodes has {} bytes, allowed is {}", text.size(), kListBytesMax);
  }
  Result<std::vector<std::string>> names = parse_hostlist(text, kNodesAtOnceMax);
  if (!names.is_ok()) return invalid_argument("nodes: {}", names.status().message());
  if (names.value().empty()) return invalid_argument("nodes: say which names may join");
  return format_hostlist(std::move(names).value());
}

// Without its secret, whose it is, and when it ends.
Result<Token> token_of(const v1::CreateJoinTokenRequest& request) {
  RETURN_IF_ERROR(check_sentence("label", request.label()));
  Result<std::string> nodes = list_of(request.nodes());
  RETURN_IF_ERROR(nodes.status());
  Token token{.label = request.label(), .kind = TokenKind::join, .scope = TokenScope::read};
  token.nodes = std::move(nodes).value();
  token.uses_left = request.uses() == 0 ? 1 : request.uses();
  return token;
}

template <typename Reply>
void read_state(Controller& controller, const Caller& caller, const Answer<Reply>& answer,
                std::function<void(const ClusterState&, const Actor&)> read) {
  controller.read(
      caller,
      [read](const Controller::ReadContext& context, const Actor& actor) {
        read(context.state, actor);
      },
      [answer](const Status& status) { answer(status); });
}

}  // namespace

// The secret is in this answer and nowhere else: only its hash is kept.
Prepared<v1::CreateJoinTokenReply> OperationBodies::CreateJoinToken(
    const v1::CreateJoinTokenRequest& request) {
  const Result<Token> asked = token_of(request);
  RETURN_IF_ERROR(asked.status());
  const Result<Duration> ttl = ttl_of(request.ttl());
  RETURN_IF_ERROR(ttl.status());
  return [this, asked = asked.value(), ttl = ttl.value()](const Caller& caller,
                                                          Answer<v1::CreateJoinTokenReply> answer) {
    const auto create = [this, caller, asked, ttl, answer](const ClusterState&, const Actor& me) {
      if (const Status can = parts_.enrollment.check_can_issue(); !can.is_ok()) return answer(can);
      const std::string secret = make_token_secret();
      Token token = asked;
      token.hash = hash_token(secret);
      token.user = me.user;
      token.created_at = parts_.loop.wall_now();
      token.expires_at = token.created_at + ttl;
      parts_.actions.add_token(
          caller, token,
          answer_with<CommandReply>(
              answer, [token, secret](const CommandReply&, v1::CreateJoinTokenReply& reply) {
                to_proto(token, *reply.mutable_token());
                reply.set_secret(secret);
              }));
    };
    read_state<v1::CreateJoinTokenReply>(parts_.queries.controller(), caller, answer, create);
  };
}

Prepared<v1::ListJoinTokensReply> OperationBodies::ListJoinTokens(
    const v1::ListJoinTokensRequest&) {
  return [this](const Caller& caller, Answer<v1::ListJoinTokensReply> answer) {
    auto done = answer_with<std::vector<Token>>(
        answer, [](const std::vector<Token>& tokens, v1::ListJoinTokensReply& reply) {
          for (const Token& token : tokens) to_proto(token, *reply.add_tokens());
        });
    read_state<v1::ListJoinTokensReply>(parts_.queries.controller(), caller, answer,
                                        [done](const ClusterState& state, const Actor&) {
                                          std::vector<Token> tokens;
                                          for (const auto& [hash, token] : state.tokens()) {
                                            if (token.kind == TokenKind::join)
                                              tokens.push_back(token);
                                          }
                                          done(std::move(tokens));
                                        });
  };
}

Prepared<v1::RevokeJoinTokenReply> OperationBodies::RevokeJoinToken(
    const v1::RevokeJoinTokenRequest& request) {
  return [this, id = request.id()](const Caller& caller, Answer<v1::RevokeJoinTokenReply> answer) {
    read_state<v1::RevokeJoinTokenReply>(
        parts_.queries.controller(), caller, answer,
        [this, caller, id, answer](const ClusterState& state, const Actor&) {
          for (const auto& [hash, token] : state.tokens()) {
            if (token.kind != TokenKind::join || token_id(hash) != id) continue;
            return parts_.queries.controller().submit(caller, hai::RevokeToken{hash},
                                                      answer_done(answer));
          }
          answer(not_found("join token {} does not exist", id.substr(0, 64)));
        });
  };
}

Prepared<v1::NodeCertificate> OperationBodies::JoinNode(const v1::JoinNodeRequest& request) {
  if (!is_node_name(request.name())) {
    return invalid_argument("name: must be 1 to 255 letters, digits and . _ -");
  }
  if (request.csr().size() > kRequestBytesMax) {
    return invalid_argument("csr has {} bytes, allowed is {}", request.csr().size(),
                            kRequestBytesMax);
  }
  for (const std::string* told : {&request.instance(), &request.machine(), &request.boot_id()}) {
    if (told->size() > kIdentityBytesMax) {
      return invalid_argument("instance, machine, boot_id: at most {} bytes each",
                              kIdentityBytesMax);
    }
  }
  const Enrollment::Joiner joiner{.node = request.name(),
                                  .machine = {.instance = request.instance(),
                                              .machine = request.machine(),
                                              .boot_id = request.boot_id(),
                                              .address = {}},
                                  .request = request.csr()};
  return [this, joiner](const Caller& caller, Answer<v1::NodeCertificate> answer) {
    parts_.enrollment.join(
        caller, joiner,
        answer_with<Enrollment::Certificate>(
            answer, [address = parts_.server_address](const Enrollment::Certificate& made,
                                                      v1::NodeCertificate& reply) {
              reply.set_certificate(made.certificate);
              reply.set_authorities(made.authorities);
              reply.set_cluster(made.cluster);
              reply.set_grpc_address(address);
            }));
  };
}

Prepared<v1::ListNodeIdentitiesReply> OperationBodies::ListNodeIdentities(
    const v1::ListNodeIdentitiesRequest&) {
  return [this](const Caller& caller, Answer<v1::ListNodeIdentitiesReply> answer) {
    auto done = answer_with<std::vector<NodeIdentity>>(
        answer, [](const std::vector<NodeIdentity>& all, v1::ListNodeIdentitiesReply& reply) {
          for (const NodeIdentity& each : all) to_proto(each, *reply.add_identities());
        });
    read_state<v1::ListNodeIdentitiesReply>(
        parts_.queries.controller(), caller, answer,
        [done](const ClusterState& state, const Actor&) {
          std::vector<NodeIdentity> all;
          for (const auto& [node, identity] : state.identities()) all.push_back(identity);
          done(std::move(all));
        });
  };
}

Prepared<v1::NodeIdentity> OperationBodies::RevokeNodeIdentity(
    const v1::RevokeNodeIdentityRequest& request) {
  RETURN_IF_ERROR(check_sentence("reason", request.reason()));
  return [this, node = request.name(), reason = request.reason()](const Caller& caller,
                                                                  Answer<v1::NodeIdentity> answer) {
    parts_.queries.controller().submit(
        caller, hai::RevokeNodeIdentity{.node = node, .reason = reason},
        [this, node, answer](const Result<CommandReply>& done) {
          if (!done.is_ok()) return answer(done.status());
          const hai::NodeIdentity* found = parts_.queries.controller().state().find_identity(node);
          if (found == nullptr) return answer(aborted("the server does not lead any more"));
          answer(Fill<v1::NodeIdentity>(
              [identity = *found](v1::NodeIdentity& reply) { to_proto(identity, reply); }));
        });
  };
}

}  // namespace hai
