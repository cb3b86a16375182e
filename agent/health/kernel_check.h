#pragma once
// What the kernel's log tells: Xids of GPUs, SXids of NVSwitches, and the lines of the kernel
// table.

#include <map>
#include <set>
#include <string>

#include "agent/health/check.h"
#include "agent/health/fault_ledger.h"
#include "agent/health/kernel_log.h"
#include "agent/health/kernel_table.h"
#include "agent/health/xid_table.h"

namespace hai {

struct KernelCheckOptions {
  std::string kmsg = "/dev/kmsg";
  std::string proc_root = "/proc";
  std::string fault_file;  // keeps what stands for the agent's successor; "" = nowhere
  std::string boot_id;
  bool writes_fault_file = true;  // false = only reads what the agent keeps there
  XidTable xids = XidTable::built_in();
  KernelTable kernel = KernelTable::built_in();
};

class KernelCheck final : public Check {
 public:
  explicit KernelCheck(KernelCheckOptions options, KernelLog::ReadCall read_call = {});
  std::vector<CheckResult> run(const CheckInput& input) override;

 private:
  void find_gpus();
  void restore_faults();
  void keep();
  void take(const KernelRecord& record, const CheckInput& input);
  void take_xid(const XidLine& xid, const std::string& line, UnixTime at);
  CheckResult judge_log(const Status& status, const KernelLog::News& news) const;
  void add_quiet_ones(std::vector<CheckResult>& results, bool is_readable) const;

  KernelCheckOptions options_;
  KernelLog log_;
  FaultLedger ledger_;
  std::map<std::string, int> gpu_by_bus_id_;
  bool has_nvidia_ = false;
  bool has_nvswitch_ = false;
  int64_t last_sequence_ = -1;
  int64_t skip_through_ = -1;  // read by the agent before this one
  std::string damage_;         // why what it kept could not be read
  bool is_restored_ = false;
  bool is_changed_ = false;
};

}  // namespace hai
