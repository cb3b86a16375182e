// hai ca: the certificate authority as people see it. Its key is on the servers' machines, and no
// call of theirs touches it: a server that rewrote its own folder would leave the others with the
// old one. So the CA is changed there, by `hai-server ca`.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/context_config.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"
#include "common/count_of.h"
#include "common/tls/certificate.h"

namespace hai::cli {
namespace {

// By which this context believes the servers.
Result<std::vector<CertificateFacts>> authorities(const Session& session) {
  const Result<ContextConfig> config = load_contexts(context_config_path());
  RETURN_IF_ERROR(config.status());
  const Result<Context> context = choose_context(config.value(), session.context);
  RETURN_IF_ERROR(context.status());
  if (context.value().ca == Context::kSystem) {
    return failed_precondition(
        "this context believes whom the machine believes ({}): it has no CA "
        "of the cluster's own",
        kSystemCa);
  }
  const Result<TlsTexts> tls = tls_of(context.value());
  RETURN_IF_ERROR(tls.status());
  std::vector<CertificateFacts> found = read_certificates(tls.value().ca);
  std::erase_if(found, [](const CertificateFacts& facts) { return !facts.is_authority; });
  if (found.empty()) return failed_precondition("this context speaks plain text: there is no CA");
  return found;
}

struct Given {
  int nodes = 0;    // that got a certificate by a token, which is not revoked
  int revoked = 0;  // that have none any more
  int64_t first_end_us = 0;
};

Given given(const v1::ListNodeIdentitiesReply& reply) {
  Given sum;
  for (const v1::NodeIdentity& each : reply.identities()) {
    const bool is_revoked = each.has_revoked_at_us() && each.revoked_at_us() >= each.issued_at_us();
    if (is_revoked) ++sum.revoked;
    if (is_revoked || each.serial().empty()) continue;
    ++sum.nodes;
    const int64_t end = each.expires_at_us();
    sum.first_end_us = sum.first_end_us == 0 ? end : std::min(sum.first_end_us, end);
  }
  return sum;
}

int show_authorities(Session& session, OutputFormat output) {
  const Result<std::vector<CertificateFacts>> all = authorities(session);
  if (!all.is_ok()) return session.fail(all.status());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::ListNodeIdentitiesReply> reply = client.value()->list_node_identities({});
  if (!reply.is_ok()) return session.fail(reply.status());
  const Given sum = given(reply.value());
  if (is_json(output)) {
    Json json = {{"authorities", Json::array()},
                 {"nodes_joined", sum.nodes},
                 {"nodes_revoked", sum.revoked}};
    for (const CertificateFacts& facts : all.value()) {
      json["authorities"].push_back(
          {{"sha256", facts.fingerprint}, {"expires_at", format_rfc3339(facts.ends)}});
    }
    print(format_json(json, output));
    return kOk;
  }
  Table table({{"CA (SHA-256)"}, {"UNTIL"}});
  for (const CertificateFacts& facts : all.value()) {
    table.add_row({facts.fingerprint, local_time(to_micros(facts.ends))});
  }
  print(table.render(session.terminal));
  print(fmt::format("{} joined by a token{}, {} revoked\n", count_of(sum.nodes, "node"),
                    sum.nodes == 0 ? ""
                                   : fmt::format(", the first certificate until {}",
                                                 local_time(sum.first_end_us)),
                    sum.revoked));
  return kOk;
}

}  // namespace

void add_ca(CLI::App& app, Session& session) {
  CLI::App* ca =
      app.add_subcommand("ca",
                         "Show the certificate authority of the cluster, take back what it gave")
          ->group("Administration");
  ca->require_subcommand(1);
  session.help[ca] = {
      .details = "`hai node identities` lists the certificates that nodes were given.",
      .examples = {
          {"hai ca show", "its fingerprint, until when it holds, how many nodes have joined"},
          {"hai ca revoke node-7 --reason 'stolen disk'", "the same as hai node revoke"},
          {"hai ca rotate", "what to do where the CA's key is"}}};
  CLI::App* verb = ca->add_subcommand(
      "show", "Show the CA that this context believes, and how many nodes have joined under it");
  const auto output = std::make_shared<OutputFormat>(OutputFormat::table);
  add_output_option(*verb, *output);
  verb->callback([&session, output] { session.exit_code = show_authorities(session, *output); });
  add_node_revoke(*ca, session);
  ca->add_subcommand("rotate", "Refuse, and say what to do: the CA is changed where its key is")
      ->callback([&session] {
        session.exit_code = session.fail(failed_precondition(
            "the CA is changed where its key is: on a server's machine run `hai-server ca rotate "
            "DIR` with the folder that `tls.authority` of server.yaml names, and go on as "
            "docs/operations/tls.md says (no connection is lost)"));
      });
}

}  // namespace hai::cli
