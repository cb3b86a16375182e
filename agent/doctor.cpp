#include "agent/doctor.h"

#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "agent/agent_config.h"
#include "agent/check_health.h"
#include "agent/gpu_inventory.h"
#include "agent/join.h"
#include "agent/os/cgroup.h"
#include "agent/os/host_facts.h"
#include "agent/os/rank_confinement.h"
#include "agent/rpc/certificate_calls.h"
#include "agent/rpc/server_list.h"
#include "agent/server_file.h"
#include "common/doctor/judge.h"
#include "common/doctor/look.h"
#include "common/machine/systemd_unit.h"
#include "common/tls/certificate.h"
#include "common/version.h"

namespace hai {
namespace {

std::vector<Finding> look_at_files(const AgentConfig& config, const std::string& path) {
  std::vector<Finding> findings;
  for (const std::string& line : missing_from(config)) {
    findings.push_back(failure(fmt::format("{}: {}", path, line), "put it right"));
  }
  if (findings.empty()) findings.push_back(all_well("all that " + path + " names is there"));
  return findings;
}

std::vector<Finding> look_at_certificates(const AgentConfig& config) {
  const std::string again = "`hai node token create` and `hai-agent join` give it another one";
  std::vector<Finding> findings = look_at_certificate(config.tls.certificate, {}, again);
  for (Finding& finding : look_at_certificate(config.tls.ca, {}, again)) {
    findings.push_back(std::move(finding));
  }
  const Result<TlsTexts> texts = read_tls_files(config.tls);
  if (!texts.is_ok() || texts.value().certificate.empty()) return findings;
  const std::string name = config.name.empty() ? gather_host_facts().name : config.name;
  const Result<CertificateFacts> facts = read_certificate(texts.value().certificate);
  if (facts.is_ok() && facts.value().node != name) {
    findings.push_back(failure(
        fmt::format("the certificate is that of {}, and this node is {}", facts.value().node, name),
        again));
  }
  return findings;
}

std::vector<std::string> servers_of(const AgentConfig& config) {
  return all_servers(config.servers, load_servers(config.data_dir));
}

std::vector<Finding> look_at_servers(const AgentConfig& config) {
  const Result<TlsTexts> texts = read_tls_files({.ca = config.tls.ca});
  if (!texts.is_ok()) return {failure(texts.status().message(), "put it right")};
  std::vector<Finding> findings;
  for (const std::string& server : servers_of(config)) {
    findings.push_back(look_at_port(
        {.address = server,
         .ca = texts.value().ca,
         .remedy = "does that server run, does the name lead there, does a firewall stand "
                   "between? `hai doctor` on it tells more"}));
  }
  return findings;
}

// Whether a time service keeps it, and what the first server that answers has.
std::vector<Finding> look_at_clocks(const AgentConfig& config) {
  std::vector<Finding> findings = look_at_clock();
  const Result<TlsTexts> texts = read_tls_files({.ca = config.tls.ca});
  if (!texts.is_ok()) return findings;
  for (const std::string& server : servers_of(config)) {
    const auto ahead = ask_clock_ahead(server, texts.value());
    if (!ahead.is_ok()) continue;  // look_at_servers() tells
    if (ahead.value()) {
      findings.push_back(judge_clock_difference("the server " + server, *ahead.value()));
    }
    break;
  }
  return findings;
}

// What ranks cannot be given here, and why.
std::vector<Finding> look_at_cgroups(const AgentConfig& config, const std::string& path) {
  if (!config.cgroups)
    return {warning("cgroups: false: ranks have no limits", "take it out of the config")};
  const CgroupMounts mounts = find_cgroup_mounts();
  const bool is_of_unit = path == kAgentUnitConfig && has_systemd();
  CgroupHost host(mounts, is_of_unit ? kAgentUnitCgroup : "hai", "doctor");
  std::vector<Finding> findings;
  for (const std::string& what : missing_confinement(config.confinement, find_powers(host))) {
    findings.push_back(warning(what, "run hai-agent as root; docs/operations/confinement.md"));
  }
  if (mounts.unified.empty() && mounts.cpu.empty()) {
    findings.push_back(
        failure("no cgroup hierarchy is mounted", "boot with systemd, or mount one"));
  } else if (findings.empty()) {
    findings.push_back(all_well(mounts.unified_has_controllers
                                    ? "version 2 at " + mounts.unified
                                    : "version 1, controllers at " + mounts.cpu));
  }
  return findings;
}

std::string read_word(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// NVIDIA's display and 3D controllers on the PCI bus, with or without a driver.
int gpus_on_bus(const std::string& sys_root) {
  int count = 0;
  std::error_code error;
  for (const auto& device :
       std::filesystem::directory_iterator(sys_root + "/bus/pci/devices", error)) {
    if (read_word(device.path() / "vendor") != "0x10de") continue;
    if (read_word(device.path() / "class").starts_with("0x03")) ++count;
  }
  return count;
}

std::vector<Finding> look_at_gpus(const AgentConfig& config) {
  if (config.simulate_gpus > 0) {
    return {warning(fmt::format("{} GPUs are simulated", config.simulate_gpus),
                    "take simulate_gpus out of the config where jobs are to compute")};
  }
  const GpuInventory gpus = find_gpus(config.health.proc_root);
  const int on_bus = gpus_on_bus(config.health.sys_root);
  const int wanted = std::max(on_bus, config.health.gpus);
  if (gpus.count == 0 && wanted <= 0) return {all_well("this machine has none")};
  const std::string found = fmt::format("the driver has {} of {}", gpus.count, wanted);
  if (gpus.count == 0)
    return {failure(found, "install NVIDIA's driver: `modprobe nvidia`, `dmesg`")};
  if (gpus.count < wanted) return {failure(found, "`nvidia-smi`, `dmesg | grep -i xid`")};
  return {all_well(fmt::format("{} {}", gpus.count, gpus.model))};
}

std::vector<Finding> look_at_health(const AgentConfig& config) {
  if (!config.health.is_on) return {};
  const Result<std::vector<CheckResult>> results = health_results(config);
  if (!results.is_ok()) return {failure(results.status().message(), "put it right")};
  const std::string remedy = "`hai-agent --check-health`; docs/operations/health.md";
  std::vector<Finding> findings;
  for (const CheckResult& each : results.value()) {
    const std::string found =
        each.subject.empty() ? fmt::format("{}: {}", each.name, each.summary)
                             : fmt::format("{} of {}: {}", each.name, each.subject, each.summary);
    if (each.verdict == CheckVerdict::fail) findings.push_back(failure(found, remedy));
    if (each.verdict == CheckVerdict::warn) findings.push_back(warning(found, remedy));
  }
  if (!findings.empty()) return findings;
  return {all_well(fmt::format("{} checks find nothing", results.value().size()))};
}

// Jobs run as their submitters, so there have to be some.
std::vector<Finding> look_at_accounts() {
  constexpr uid_t kFirstPerson = 1000;
  constexpr uid_t kNobody = 65'534;
  int people = 0;
  ::setpwent();
  while (const passwd* entry = ::getpwent()) {
    people += entry->pw_uid >= kFirstPerson && entry->pw_uid != kNobody ? 1 : 0;
  }
  ::endpwent();
  if (people > 0) return {all_well(fmt::format("{} accounts of people", people))};
  return {warning("no account of a person is listed: jobs run as their submitters",
                  "join the site's directory (sssd, which may list nobody and be well), or make "
                  "the accounts")};
}

std::vector<DoctorCheck> checks_of(const AgentConfig& config, const std::string& path) {
  const std::string log_folder = std::filesystem::path(config.log_file).parent_path();
  std::vector<DoctorCheck> checks{
      {"version", [] { return std::vector{all_well("hai-agent " + std::string(version()))}; }},
      {"files", [&] { return look_at_files(config, path); }},
      {"certificate", [&] { return look_at_certificates(config); }},
      {"server", [&] { return look_at_servers(config); }, 30s},
      {"clock", [&] { return look_at_clocks(config); }, 60s},
      {"disk",
       [&, log_folder] {
         return look_at_disks({config.data_dir, log_folder, "/tmp"});
       }},
      {"cgroup", [&] { return look_at_cgroups(config, path); }},
      {"gpu", [&] { return look_at_gpus(config); }},
      {"health", [&] { return look_at_health(config); }, 60s},
      {"account", look_at_accounts}};
  if (path == kAgentUnitConfig) {
    checks.push_back({"unit", [] { return look_at_unit(kAgentUnit); }});
  }
  return checks;
}

}  // namespace

CLI::App* add_doctor_command(CLI::App& app) {
  CLI::App* doctor = app.add_subcommand(
      "doctor", "look what of this node's setup is wrong, and say what to do; 1 if anything is");
  doctor->fallthrough();
  return doctor;
}

int examine_node(const std::string& path, bool as_json) {
  std::vector<Finding> findings;
  const Result<AgentConfig> config = read_agent_config(path);
  if (config.is_ok()) {
    findings = run_checks("agent", checks_of(config.value(), path));
  } else {
    findings = {failure(config.status().message(),
                        config.status().code() == Code::not_found
                            ? "`hai-agent join` makes one"
                            : "correct what it names; deploy/agent.yaml explains all keys")};
    findings.front().part = "agent";
    findings.front().check = "config";
  }
  fmt::print("{}", as_json ? format_findings(findings) : describe_findings(findings));
  return exit_code_of(findings);
}

}  // namespace hai
