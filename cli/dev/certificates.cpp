#include "cli/dev/certificates.h"

#include <unistd.h>

#include <functional>

#include "cli/dev/configs.h"
#include "cli/file.h"
#include "cli/format.h"
#include "common/tls/certificate.h"

namespace hai::cli {
namespace {

constexpr Duration kLeft = std::chrono::hours(24 * 30);  // less than that: a new one

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool holds_on(const TlsFiles& pair) {
  if (!is_there(pair.certificate) || !is_there(pair.key)) return false;
  const Result<std::string> text = read_file(pair.certificate);
  if (!text.is_ok()) return false;
  const Result<CertificateFacts> facts = read_certificate(text.value());
  return facts.is_ok() && facts.value().ends - wall_now() > kLeft;
}

Status keep_pair(const AuthorityFolder& folder, const std::string& name,
                 const std::function<Result<KeyAndCertificate>()>& issue) {
  const TlsFiles files = folder.pair(name);
  if (holds_on(files)) return ok();
  ::unlink(files.certificate.c_str());
  ::unlink(files.key.c_str());
  const Result<KeyAndCertificate> pair = issue();
  RETURN_IF_ERROR(pair.status());
  return folder.write_pair(name, pair.value());
}

Status keep_authority(const AuthorityFolder& folder) {
  RETURN_IF_ERROR(folder.make());
  if (is_there(folder.certificate())) return ok();
  ::unlink(folder.key().c_str());  // of a start that was cut off between the two
  const Result<KeyAndCertificate> made = make_authority();
  RETURN_IF_ERROR(made.status());
  return folder.write_authority(made.value());
}

}  // namespace

Status keep_certificates(const AuthorityFolder& folder, const std::vector<std::string>& nodes) {
  RETURN_IF_ERROR(keep_authority(folder));
  const Result<KeyAndCertificate> authority = folder.read();
  RETURN_IF_ERROR(authority.status());
  RETURN_IF_ERROR(keep_pair(folder, kServerPair, [&] {
    return issue_for_server(authority.value(), {"127.0.0.1", "localhost"});
  }));
  for (const std::string& node : nodes) {
    RETURN_IF_ERROR(
        keep_pair(folder, node, [&] { return issue_for_node(authority.value(), node); }));
  }
  return ok();
}

}  // namespace hai::cli
