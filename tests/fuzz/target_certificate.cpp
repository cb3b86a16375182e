// Certificates in PEM, as a config's files or a server's folder hold them, and as they come in
// handshakes.

#include "common/tls/certificate.h"
#include "common/tls/tls_files.h"
#include "tests/fuzz/fuzz_target.h"

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
  return 0;
}
