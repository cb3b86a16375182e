#include "cli/slurm/host_lists.h"

#include <cstdio>
#include <cstdlib>

#include "cli/exit_code.h"
#include "cli/slurm/console.h"
#include "cli/slurm/step/step.h"
#include "common/hostlist.h"

namespace hai::cli::slurm {

static constexpr Command kLister = Command::scontrol;

int show_hostnames(const std::vector<std::string>& names) {
  const char* own = std::getenv("SLURM_JOB_NODELIST");
  if (names.empty() && own == nullptr) {
    return usage_error(kLister, "show hostnames: give a host list; SLURM_JOB_NODELIST is not set");
  }
  std::string text;
  for (const std::string& list : names.empty() ? std::vector<std::string>{own} : names) {
    const auto hosts = parse_hostlist(list);
    if (!hosts.is_ok()) return usage_error(kLister, hosts.status().message());
    for (const std::string& host : hosts.value()) text += host + "\n";
  }
  std::fputs(text.c_str(), stdout);
  return kOk;
}

int show_hostlist(const std::vector<std::string>& names) {
  if (names.empty()) return usage_error(kLister, "show hostlist: give names with commas");
  const auto hosts = parse_hostlist(names[0]);
  if (!hosts.is_ok()) return usage_error(kLister, hosts.status().message());
  std::puts(hostlist_in_order(hosts.value()).c_str());
  return kOk;
}

}  // namespace hai::cli::slurm
