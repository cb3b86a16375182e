// Certificates in PEM, as a config's files or a server's folder hold them, and as they come in
// handshakes; and requests for them, which are all that nodes say when they join or renew theirs.

#include "common/tls/authority.h"
#include "common/tls/certificate.h"
#include "common/tls/request.h"
#include "common/tls/tls_files.h"
#include "tests/fuzz/fuzz_target.h"

namespace hai::fuzz {
namespace {

// What is issued for a request is for the node that is meant, whatever the request says of itself.
void try_request(const std::string& pem) {
  static const KeyAndCertificate authority = make_authority().value();
  const Status request = check_request(pem);
  const UnixTime now = read_certificate(authority.certificate).value().begins;
  const Result<IssuedCertificate> issued =
      issue_for_request(authority, pem, "node-1", {.begins = now, .ends = now + 24h});
  if (issued.is_ok() != request.is_ok()) broken("a request is good, and is not");
  if (!issued.is_ok()) return judge_reason(issued.status().message());
  const CertificateFacts facts = read_certificate(issued.value().certificate).value();
  if (facts.node != "node-1" || facts.is_authority) broken("issued for " + facts.node);
  if (!is_issued_by(issued.value().certificate, authority.certificate)) broken("issued by another");
}

}  // namespace
}  // namespace hai::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hai;
  const std::string pem(fuzz::text_of(data, size));
  const std::vector<CertificateFacts> all = read_certificates(pem);
  const Result<CertificateFacts> first = read_certificate(pem);
  if (first.is_ok() && all.empty()) fuzz::broken("there is a first certificate, but none at all");
  if (!first.is_ok()) fuzz::judge_reason(first.status().message());
  const Status authorities = check_authorities(pem, "the file");
  if (!authorities.is_ok()) fuzz::judge_reason(authorities.message());
  for (const CertificateFacts& each : all) {
    if (each.fingerprint.size() != 64) fuzz::broken("a fingerprint of " + each.fingerprint);
  }
  fuzz::try_request(pem);
  return 0;
}
