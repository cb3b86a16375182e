#include "agent/rpc/node_files.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/tls/certificate.h"
#include "common/tls/pair_files.h"
#include "common/tls/replace_file.h"
#include "common/tls/tls_client.h"

namespace hai {
namespace {

bool is_authoritys_own(const std::string& ca_file) {
  const std::filesystem::path key = std::filesystem::path(ca_file).replace_filename("ca.key");
  return ::access(key.c_str(), F_OK) == 0;
}

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Status check_reply(const NodeCertificateReply& reply, const std::string& node,
                   const std::string& key) {
  const Result<CertificateFacts> facts = read_certificate(reply.certificate);
  if (!facts.is_ok() || facts.value().node != node || !do_belong_together(key, reply.certificate)) {
    return failed_precondition("the server's answer is no certificate of {} for this key", node);
  }
  return check_authorities(reply.authorities, "the server's answer");
}

std::string authorities_to_keep(const NodeCertificateReply& reply, const std::string& believed,
                                const std::vector<std::string>& servers) {
  const std::string named = joined_certificates(reply.authorities, "");
  const bool do_all_pass = std::ranges::none_of(servers, [&](const std::string& server) {
    const auto client = TlsClient::connect(
        {.address = server, .texts = {.ca = named}, .timeout = 2s, .is_grpc = true});
    return !client.is_ok();  // also one that is down: nobody knows what it will show
  });
  return do_all_pass ? named : joined_certificates(named, believed);
}

Status keep_reply(const TlsFiles& files, const NodeCertificateReply& reply, const std::string& key,
                  const std::string& authorities) {
  const bool is_same = joined_certificates(text_in(files.ca), "") == authorities;
  // Only where it is this node's own file: a system's or a site's is not for hai to write.
  const auto folder_of = [](const std::string& path) {
    return std::filesystem::path(path).parent_path();
  };
  std::error_code ignored;
  const bool is_own = !std::filesystem::exists(files.ca, ignored) ||
                      (!std::filesystem::is_symlink(files.ca, ignored) &&
                       folder_of(files.ca) == folder_of(files.certificate));
  if (!is_same && is_own && !is_authoritys_own(files.ca)) {
    RETURN_IF_ERROR(replace_file(files.ca, authorities, 0644));
  }
  return replace_pair(files, key, reply.certificate);
}

}  // namespace hai
