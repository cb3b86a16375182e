#include "proto/convert/channel_credentials.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <vector>

#include "proto/convert/grpc_log.h"

namespace hai {

std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const TlsTexts& tls) {
  if (tls.ca.empty()) return grpc::InsecureChannelCredentials();
  keep_grpc_silent();
  std::vector<grpc::experimental::IdentityKeyCertPair> own;
  if (!tls.certificate.empty()) {
    own.push_back({.private_key = tls.key, .certificate_chain = tls.certificate});
  }
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(
      std::make_shared<grpc::experimental::StaticDataCertificateProvider>(tls.ca, own));
  options.watch_root_certs();
  if (!own.empty()) options.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(options);
}

}  // namespace hai
