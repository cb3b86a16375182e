#include "server/setup/next_steps.h"

namespace hai {

std::string next_steps(const SetupPlan& plan, bool is_started, const std::string& token) {
  const ServerConfig& config = plan.config;
  std::string text = fmt::format("\nThe cluster {} is set up. ", config.cluster);
  text += is_started ? "hai-server.service runs.\n"
                     : fmt::format("Start its server as the user {}:\n  hai-server --config {}\n",
                                   plan.user.name, plan.path);
  if (!plan.is_founding) return text;
  if (!token.empty()) {
    text += fmt::format("\nThe token of {}, shown this once ({} keeps it), holds for {}:\n  {}",
                        config.admin_user, config.admin_token_file,
                        format_duration(config.admin_token_ttl), token);
  }
  // A certificate of a public CA is believed without --ca.
  const bool is_issued = config.tls.certificate == plan.folder + "/server.crt";
  const std::string ca = is_issued ? " --ca " + config.tls.ca : "";
  text += fmt::format(
      "\nNext, as an administrator of the cluster:\n"
      "  hai init - --url https://{}{} < {}\n"
      "  hai token create --label mine      # then hai init with that one, before the first ends\n"
      "  hai node token create 'node-[1-8]' --ttl 1h --uses 8\n"
      "This prints the line that each node runs as root:\n"
      "  hai-agent join {} --token TOKEN --ca-fingerprint sha256:…\n"
      "Then people, and who may use what:\n"
      "  hai user add --csv people.csv\n"
      "  hai quota set GROUP NODES -g training -p normal\n"
      "Whether all is well, on any machine:\n"
      "  hai doctor\n"
      "Each day a backup, and old history out of the database, on one machine as root:\n"
      "  systemctl enable --now hai-backup.timer hai-archive.timer\n"
      "Keep a copy of {} where the backups of the database are not.\n",
      config.advertise.grpc, ca, config.admin_token_file, config.advertise.grpc, plan.folder);
  return text;
}

}  // namespace hai
