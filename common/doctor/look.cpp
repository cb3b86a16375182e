#include "common/doctor/look.h"

#include <pwd.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "common/doctor/judge.h"
#include "common/machine/bounded_child.h"
#include "common/tcp_dial.h"
#include "common/tls/tls_client.h"
#include "common/whole_file.h"

namespace hai {
namespace {

namespace fs = std::filesystem;

constexpr Duration kDialPatience = 5s;

std::vector<Finding> run_check(const DoctorCheck& check) {
  const ChildOutput said = run_for_text([&] { return format_findings(check.look()); },
                                        {.patience = check.patience, .bytes_max = 1 << 20});
  if (said.is_late) {
    return {failure("no answer within " + format_duration(check.patience),
                    "a disk, a mount or a name service hangs: `dmesg`, `mount`, `resolvectl`")};
  }
  Result<std::vector<Finding>> findings = parse_findings(said.text);
  if (findings.is_ok()) return std::move(findings).value();
  return {failure("this check has ended before its time", "report it: " + said.text)};
}

// The nearest folder that is there: that is where a new one would be made.
fs::path existing(fs::path folder) {
  std::error_code error;
  while (!fs::is_directory(folder, error) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

}  // namespace

UnixTime clock_now() {
  return UnixTime(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

std::vector<Finding> run_checks(const std::string& part, const std::vector<DoctorCheck>& checks) {
  std::vector<Finding> all;
  for (const DoctorCheck& check : checks) {
    for (Finding& finding : run_check(check)) {
      finding.part = part;
      finding.check = check.name;
      all.push_back(std::move(finding));
    }
  }
  return all;
}

std::vector<Finding> look_at_disks(const std::vector<std::string>& folders) {
  std::vector<Finding> findings;
  for (const std::string& folder : folders) {
    if (folder.empty()) continue;
    const std::string path = existing(fs::absolute(folder)).string();
    struct statvfs facts {};
    if (::statvfs(path.c_str(), &facts) != 0) {
      findings.push_back(failure(fmt::format("{}: {}", path, std::strerror(errno)),
                                 "mount it again, or replace the disk"));
    } else if ((facts.f_flag & ST_RDONLY) != 0) {
      findings.push_back(failure(path + " can only be read",
                                 "mount it writable; after a fault of the disk the kernel has "
                                 "mounted it so"));
    } else {
      findings.push_back(judge_disk(path, {.free_bytes = facts.f_bavail * facts.f_frsize,
                                           .total_bytes = facts.f_blocks * facts.f_frsize,
                                           .free_files = facts.f_favail,
                                           .total_files = facts.f_files}));
    }
  }
  return findings;
}

std::vector<Finding> look_at_clock() {
  timex clock{};  // modes 0: only asks
  return {judge_clock(::adjtimex(&clock) != TIME_ERROR && (clock.status & STA_UNSYNC) == 0)};
}

std::vector<Finding> look_at_certificate(const std::string& file,
                                         const std::vector<std::string>& names,
                                         const std::string& remedy) {
  if (file.empty()) return {};
  const Result<std::string> text = read_whole_file(file);
  if (!text.is_ok()) return {failure(text.status().message(), remedy)};
  const std::vector<CertificateFacts> all = read_certificates(text.value());
  if (all.empty()) return {failure(file + ": no certificate in PEM", remedy)};
  std::vector<Finding> findings;
  for (const CertificateFacts& facts : all) {
    // Behind a server's certificate stand those of its CAs, which others are told of.
    if (&facts != &all.front() && !all.front().is_authority) break;
    findings.push_back(judge_certificate(file, facts, clock_now(), names, remedy));
  }
  return findings;
}

Finding look_at_port(const PortToLook& port) {
  Status status;
  if (port.ca.empty()) {
    status = dial_tcp(split_host_port(port.address), deadline_after(kDialPatience)).status();
  } else {
    status = TlsClient::connect({.address = port.address,
                                 .texts = {.ca = port.ca},
                                 .timeout = kDialPatience,
                                 .is_grpc = port.is_grpc})
                 .status();
  }
  if (status.is_ok()) return all_well(port.address + " answers");
  return failure(fmt::format("{}: {}", port.address, status.message()), port.remedy);
}

std::vector<Finding> look_at_unit(const std::string& unit) {
  if (!has_systemd()) return {};
  const Result<UnitState> state = unit_state(unit);
  if (!state.is_ok()) return {warning(state.status().message(), "is systemd well? `systemctl`")};
  return {judge_unit(unit, state.value())};
}

Finding look_at_account(const std::string& name, const std::string& remedy) {
  errno = 0;
  if (::getpwnam(name.c_str()) != nullptr) return all_well("the account " + name + " is there");
  return failure("there is no account " + name + " on this machine", remedy);
}

}  // namespace hai
