#pragma once
// How nodes get their certificates: a machine that joins shows a token for its name, a node that is
// there shows the certificate it has. On the loop's thread. A certificate is handed out only when
// that it was issued is durable.

#include <memory>
#include <set>
#include <string>
#include <unordered_set>

#include "common/agent_messages.h"
#include "common/loop.h"
#include "server/api/certificate_maker.h"
#include "server/control/engine/controller.h"

namespace hai {

struct EnrollmentOptions {
  std::string authority;  // the CA's folder; "" = this server issues nothing
  std::string believed;   // tls.client_ca
  std::string cluster;
  Duration life{0};  // of a certificate
};

class Enrollment {
 public:
  Enrollment(Loop& loop, Controller& controller, EnrollmentOptions options);

  struct Certificate {
    std::string certificate;  // PEM, and its chain
    std::string authorities;  // PEM
    std::string cluster;
  };
  using Done = std::function<void(Result<Certificate>)>;

  // failed_precondition without a CA: what to do about it.
  Status check_can_issue() const;
  // `caller` has the join token as his bearer token. A name whose agent answers is not given to
  // another machine, and the token keeps its use then.
  struct Joiner {
    std::string node;
    AgentIdentity machine;  // without `instance` nothing is compared
    std::string request;    // PEM
  };
  void join(const Caller& caller, const Joiner& joiner, Done done);
  // By who has shown a certificate of the node that begins then.
  void renew(const std::string& node, UnixTime begins, const std::string& request, Done done);

 private:
  Status check_token(const Caller& caller, const std::string& node);
  Status check_name(const std::string& node, const AgentIdentity& newcomer) const;
  bool is_in_list(const std::string& node, const std::string& list);
  Status check_renewal(const std::string& node, UnixTime begins) const;
  // From when on a certificate that is issued now holds.
  Result<Validity> validity_for(const std::string& node) const;
  void issue(const std::string& node, const std::string& request, const std::string& join_token,
             Done done);

  Loop& loop_;
  Controller& controller_;
  const EnrollmentOptions options_;
  std::set<std::string> renewing_;  // nodes whose renewal is under way
  struct Names {
    std::string list;
    std::unordered_set<std::string> names;
  };
  Names names_;  // of the list that was asked for last: a whole cluster joins with one
  std::unique_ptr<CertificateMaker> maker_;  // null = this server issues nothing
};

}  // namespace hai
