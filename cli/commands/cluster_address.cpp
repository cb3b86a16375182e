#include "cli/commands/cluster_address.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/tls/fingerprints.h"
#include "common/tls/tls_client.h"

namespace hai::cli {
namespace {

// Of the first server that answers.
Result<std::string> ca_shown_by(const std::vector<std::string>& servers,
                                const std::string& fingerprint) {
  const Result<std::vector<std::string>> fingerprints = parse_fingerprints(fingerprint);
  RETURN_IF_ERROR(fingerprints.status());
  Result<std::string> shown = invalid_argument("--ca-fingerprint: no server is named");
  for (const std::string& server : servers) {
    shown = authority_shown_by(server, fingerprints.value());
    if (shown.status().code() != Code::unavailable) return shown;
  }
  return shown;
}

// The text, not the path: the file may go, the context stays.
Result<std::string> ca_of(const ClusterAddress& address, const std::vector<std::string>& servers) {
  if (!address.fingerprint.empty()) return ca_shown_by(servers, address.fingerprint);
  if (!address.ca.empty()) {
    Result<TlsTexts> texts = read_tls_files({.ca = address.ca});
    if (!texts.is_ok()) return invalid_argument("--ca: {}", texts.status().message());
    return std::move(texts).value().ca;
  }
  const bool is_tls = std::ranges::any_of(address.urls, wants_tls);
  return std::string(is_tls ? Context::kSystem : "");
}

}  // namespace

void add_address_options(CLI::App& verb, ClusterAddress& address, bool needs_url) {
  verb.add_option("--url", address.urls,
                  "grpc://HOST:PORT, or https://HOST:PORT with TLS; repeat it for standby servers")
      ->required(needs_url)
      ->allow_extra_args(false);
  CLI::Option* ca = verb.add_option(
      "--ca", address.ca,
      "file with the cluster's CA (ca.crt): speak TLS and believe its servers by it; "
      "https:// without it believes whom this machine does");
  verb.add_option(
          "--ca-fingerprint", address.fingerprint,
          "instead of the file: sha256:... of the cluster's CA, which its servers then show")
      ->excludes(ca);
  verb.add_option("--name", address.name, "of the context; the cluster's name by default");
}

Result<Context> to_context(const ClusterAddress& address) {
  if (!address.name.empty()) {
    const Status status = check_context_name(address.name);
    if (!status.is_ok()) return invalid_argument("--name: {}", status.message());
  }
  Context context{.name = address.name, .servers = {}, .token = ""};
  for (const std::string& url : address.urls) {
    const Result<std::string> server = parse_server_address(url);
    RETURN_IF_ERROR(server.status());
    context.servers.push_back(server.value());
  }
  Result<std::string> ca = ca_of(address, context.servers);
  RETURN_IF_ERROR(ca.status());
  context.ca = std::move(ca).value();
  return context;
}

}  // namespace hai::cli
