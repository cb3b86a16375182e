#include "server/setup/next_steps.h"

#include "common/tls/certificate.h"
#include "common/whole_file.h"

namespace hai {
namespace {

// Who has nothing but this line knows the CA by its fingerprint.
std::string elsewhere(const SetupPlan& plan) {
  if (trust_words(plan).empty()) return "";
  const Result<std::string> ca = read_whole_file(plan.config.tls.ca);
  const Result<CertificateFacts> facts =
      ca.is_ok() ? read_certificate(ca.value()) : Result<CertificateFacts>(ca.status());
  return facts.is_ok() ? " --ca-fingerprint sha256:" + facts.value().fingerprint
                       : " " + trust_words(plan);
}

// Of one that has not the cluster's name.
std::string by_context(const SetupPlan& plan, const SignedIn& signed_in) {
  if (signed_in.context.empty() || signed_in.context == plan.config.cluster) return "";
  return fmt::format(", by the context {} ({} has none of these addresses)", signed_in.context,
                     plan.config.cluster);
}

std::string first_words(const SetupPlan& plan, const SignedIn& signed_in) {
  const ServerConfig& config = plan.config;
  const std::string ca = trust_words(plan).empty() ? "" : " " + trust_words(plan);
  if (signed_in.is_in) {
    return fmt::format("\nroot of this machine is {} now, and `hai` works here{}.\n",
                       config.admin_user, by_context(plan, signed_in));
  }
  return fmt::format(
      "\nNext, as an administrator of the cluster, where hai-cli is installed:\n"
      "  hai init - --url https://{}{} < {}\n",
      config.advertise.grpc, ca, config.admin_token_file);
}

std::string join_words(const SetupPlan& plan, const SignedIn& signed_in) {
  if (!signed_in.join_line.empty()) {
    return fmt::format("Each of these nodes, as root, within a day:\n  {}\n", signed_in.join_line);
  }
  return fmt::format(
      "The line that each node runs as root:\n"
      "  hai node token create 'node-[1-8]' --ttl 1h --uses 8\n"
      "prints it:\n"
      "  hai-agent join {} --token TOKEN --ca-fingerprint sha256:…\n",
      plan.config.advertise.grpc);
}

std::string init_line(const SetupPlan& plan, const std::vector<std::string>& servers) {
  std::string line = "  hai init -";
  for (const std::string& server : servers) line += " --url https://" + server;
  return line + elsewhere(plan) + "\n";
}

std::string backup_words(const Started& started) {
  if (started.backups) {
    return fmt::format("{} dumps the database each day, to where /etc/default/hai-backup says.\n",
                       kBackupTimer);
  }
  return fmt::format("Each day a backup, on one machine as root:\n  systemctl enable --now {}\n",
                     kBackupTimer);
}

}  // namespace

std::string next_steps_beside(const SetupPlan& plan, const std::string& address,
                              const SignedIn& signed_in) {
  std::string text =
      fmt::format("\n{} is a server of {}, too: it takes over if the others are gone.\n", address,
                  plan.config.cluster);
  if (signed_in.is_in) {
    text += fmt::format("`hai` of this machine's root asks it as well{}.\n",
                        by_context(plan, signed_in));
  }
  if (!signed_in.join_line.empty()) text += join_words(plan, signed_in);
  text += "On other machines, with a token of `hai token create`:\n" +
          init_line(plan, {plan.config.advertise.grpc, address});
  text += "Nodes that have joined already are told of it soon after it runs.\n";
  return text;
}

std::string next_steps(const SetupPlan& plan, const Started& started, const std::string& token,
                       const SignedIn& signed_in) {
  const ServerConfig& config = plan.config;
  std::string text = fmt::format("\nThe cluster {} is set up. ", config.cluster);
  text += started.server
              ? "hai-server.service runs.\n"
              : fmt::format("Start its server as the user {}:\n  hai-server --config {}\n",
                            plan.user.name, plan.path);
  if (!signed_in.join_line.empty() && !plan.is_first_setup()) text += join_words(plan, signed_in);
  if (!plan.is_first_setup()) return text;
  if (!token.empty()) {
    text += fmt::format("\nThe token of {}, shown this once ({} keeps it), holds for {}:\n  {}",
                        config.admin_user, config.admin_token_file,
                        format_duration(config.admin_token_ttl), token);
  }
  text += first_words(plan, signed_in) + join_words(plan, signed_in);
  text += fmt::format(
      "Another server, which takes over if this one is gone, by ssh, before the nodes join:\n"
      "  hai-server setup --add-server root@SERVER-2 --nodes 'node-[1-8]'\n"
      "People, and who may use what:\n"
      "  hai user add ann ben\n"
      "  hai quota set GROUP NODES -g training -p normal\n"
      "On other machines, with a token of `hai token create`; yours, too, before the first ends:\n"
      "{}"
      "Whether all is well, on any machine:\n"
      "  hai doctor\n"
      "{}"
      "Old history out of the database each day, into files that are then all there is of it:\n"
      "  systemctl enable --now hai-archive.timer\n"
      "Keep a copy of {} where the backups of the database are not.\n",
      init_line(plan, {config.advertise.grpc}), backup_words(started), plan.folder);
  return text;
}

}  // namespace hai
