#pragma once
// Looks at this machine. These may block for as long as a disk, a mount or a network pleases:
// run_checks() gives each its deadline.

#include <functional>
#include <string>
#include <vector>

#include "common/doctor/finding.h"
#include "common/time.h"
#include "common/tls/tls_files.h"

namespace hai {

struct DoctorCheck {
  const char* name;
  std::function<std::vector<Finding>()> look;
  Duration patience = 10s;
};

// Each in a process of its own that is ended after its patience: what hangs or crashes is a failure
// of that check only. For programs with one thread, as it forks.
std::vector<Finding> run_checks(const std::string& part, const std::vector<DoctorCheck>& checks);

UnixTime clock_now();

// Each folder, or the nearest one above that is there: space, and whether it can be written.
std::vector<Finding> look_at_disks(const std::vector<std::string>& folders);
std::vector<Finding> look_at_clock();
// All certificates of the file if they are CAs, else the first. "" = none, no finding.
std::vector<Finding> look_at_certificate(const std::string& file,
                                         const std::vector<std::string>& names,
                                         const std::string& remedy);
// Whether somebody listens there, with TLS if `ca` is a text: whether he is believed, by that name.
struct PortToLook {
  std::string address;  // host:port
  std::string ca;       // PEM; "" = plain text
  bool is_grpc = true;
  std::string remedy;
};
Finding look_at_port(const PortToLook& port);
// No finding where there is no systemd.
std::vector<Finding> look_at_unit(const std::string& unit);
Finding look_at_account(const std::string& name, const std::string& remedy);

}  // namespace hai
