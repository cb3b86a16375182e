#include "server/rpc/tls_credentials.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <vector>

#include "common/tls/certificate.h"
#include "proto/convert/grpc_log.h"

namespace hai {
std::shared_ptr<grpc::ServerCredentials> server_credentials(const TlsFiles& files,
                                                            CallGuard guard) {
  if (files.certificate.empty()) {
    return guard ? plain_credentials(std::move(guard)) : grpc::InsecureServerCredentials();
  }
  keep_grpc_silent();
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files.key, files.certificate, files.ca, kTlsRefreshSeconds));
  options.watch_identity_key_cert_pairs();
  if (!files.ca.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  auto credentials = grpc::experimental::TlsServerCredentials(options);
  if (guard) guard_calls(*credentials, std::move(guard));
  return credentials;
}

std::vector<std::string> nodes_of(const grpc::AuthContext& caller) {
  std::vector<std::string> nodes;
  for (const grpc::string_ref& uri : caller.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
    const std::string_view text(uri.data(), uri.size());
    if (text.starts_with(kNodeUri)) nodes.emplace_back(text.substr(kNodeUri.size()));
  }
  return nodes;
}

std::optional<UnixTime> begins_of(const grpc::AuthContext& caller) {
  const auto found = caller.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (found.empty()) return std::nullopt;
  const Result<CertificateFacts> facts =
      read_certificate(std::string(found.front().data(), found.front().size()));
  // What cannot be read is as old as can be.
  return facts.is_ok() ? facts.value().begins : UnixTime{};
}

Status check_is_node(const std::vector<std::string>& nodes, const std::string& node) {
  if (nodes.empty()) {
    return permission_denied(
        "an agent says that it is {} and shows no certificate of a node: give it one of {} "
        "(hai-server ca issue --node {})",
        node, node, node);
  }
  if (nodes.size() == 1 && nodes.front() == node) return ok();
  return permission_denied("an agent says that it is {}, but its certificate is that of {}", node,
                           nodes.front());
}

}  // namespace hai
