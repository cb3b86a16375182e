#include "agent/health/kernel_check.h"

#include <algorithm>

#include "agent/health/fault_file.h"
#include "agent/health/file_values.h"
#include "agent/health/results.h"

namespace hai {

KernelCheck::KernelCheck(KernelCheckOptions options, KernelLog::ReadCall read_call)
    : Check("kernel_log", {.period = 1s, .deadline = 5s}),
      options_(std::move(options)),
      log_(options_.kmsg, std::move(read_call)) {}

// NVML and CUDA_VISIBLE_DEVICES with CUDA_DEVICE_ORDER=PCI_BUS_ID number GPUs by bus id.
void KernelCheck::find_gpus() {
  const std::vector<std::string> bus_ids = list_folder(options_.proc_root + "/driver/nvidia/gpus");
  has_nvidia_ = !bus_ids.empty();
  has_nvswitch_ = !list_folder(options_.proc_root + "/driver/nvidia-nvswitch/devices").empty();
  gpu_by_bus_id_.clear();
  for (const std::string& bus_id : bus_ids) {
    gpu_by_bus_id_.emplace(plain_bus_id(bus_id), static_cast<int>(gpu_by_bus_id_.size()));
  }
}

void KernelCheck::restore_faults() {
  if (std::exchange(is_restored_, true) || options_.fault_file.empty()) return;
  Result<KeptFaults> kept = read_fault_file(options_.fault_file);
  if (!kept.is_ok()) {
    if (kept.status().code() == Code::not_found) return;
    damage_ = kept.status().message();
    is_changed_ = true;  // Replace it.
    return;
  }
  if (kept.value().boot_id != options_.boot_id) return;
  damage_ = kept.value().damage;
  is_changed_ = !damage_.empty();
  skip_through_ = last_sequence_ = kept.value().last_sequence;
  ledger_.restore(std::move(kept.value().faults), std::move(kept.value().cleared));
}

void KernelCheck::keep() {
  if (!std::exchange(is_changed_, false) || options_.fault_file.empty()) return;
  if (!options_.writes_fault_file) return;
  const Status status = write_fault_file(options_.fault_file, {.boot_id = options_.boot_id,
                                                               .last_sequence = last_sequence_,
                                                               .faults = ledger_.faults(),
                                                               .cleared = ledger_.cleared()});
  is_changed_ = !status.is_ok();  // Again next time.
}

std::vector<CheckResult> KernelCheck::run(const CheckInput& input) {
  const bool is_first = !is_restored_;
  restore_faults();
  Result<KernelLog::News> news = log_.read_new();
  if (is_first || (news.is_ok() && !news.value().records.empty())) find_gpus();
  if (news.is_ok()) {
    for (const KernelRecord& record : news.value().records) take(record, input);
    skip_through_ = -1;  // A log that begins anew counts anew.
  }
  for (const ClearedFault& cleared : input.cleared) {
    ledger_.clear(cleared);
    is_changed_ = true;
  }
  keep();
  std::vector<CheckResult> results = ledger_.results(input.wall_now);
  add_quiet_ones(results, news.is_ok());
  results.push_back(judge_log(news.status(), news.is_ok() ? news.value() : KernelLog::News{}));
  return results;
}

void KernelCheck::take(const KernelRecord& record, const CheckInput& input) {
  if (record.sequence) {
    if (*record.sequence <= skip_through_) return;
    last_sequence_ = *record.sequence;
  }
  if (record.facility != 0) return;  // Not the kernel's word: some program says so.
  UnixTime at = input.wall_now;
  if (record.since_boot) {
    at = std::min(at, at - input.now.time_since_epoch() + *record.since_boot);
  }
  if (const std::optional<XidLine> xid = parse_xid_line(record.text)) {
    take_xid(*xid, record.text, at);
    return;
  }
  const std::optional<KernelTable::Match> match = options_.kernel.match(record.text);
  if (!match) return;
  is_changed_ = true;
  ledger_.add({.about = {.name = match->check, .subject = match->subject, .gpus = {}},
               .what = {},
               .group = {},
               .rule = *match->rule,
               .line = record.text,
               .at = at});
}

void KernelCheck::take_xid(const XidLine& xid, const std::string& line, UnixTime at) {
  const bool is_gpu = xid.kind == XidKind::xid;
  const std::string bus_id = plain_bus_id(xid.bus_id);
  CheckSubject about{.name = is_gpu ? "gpu_xid" : "nvswitch_sxid", .subject = {}, .gpus = {}};
  std::string thing = fmt::format("PCI:{}", xid.bus_id);
  if (const auto gpu = gpu_by_bus_id_.find(bus_id); is_gpu && gpu != gpu_by_bus_id_.end()) {
    const CheckSubject known = about_gpu(about.name, gpu->second);
    about.gpus = known.gpus;
    thing = known.subject;
  }
  about.subject = fmt::format("{} {} {}", thing, is_gpu ? "xid" : "sxid", xid.code);
  is_changed_ = true;
  ledger_.add({.about = about,
               .what = fmt::format("{} {}", is_gpu ? "Xid" : "SXid", xid.code),
               .group = thing,
               .rule = options_.xids.rule_of(xid, has_nvswitch_),
               .line = line,
               .at = at});
}

CheckResult KernelCheck::judge_log(const Status& status, const KernelLog::News& news) const {
  const CheckSubject about{.name = name(), .subject = {}, .gpus = {}};
  if (!status.is_ok()) {
    return make_unknown(
        about, {.summary = status.message(), .remedy = "run it as root, or correct health.kmsg"});
  }
  if (news.overruns > 0) {
    return make_warn(about, {.summary = "the kernel overwrote messages before they were read",
                             .remedy = "look at them in the journal; enlarge log_buf_len"});
  }
  if (ledger_.left_out() > 0) {
    return make_warn(
        about, {.summary = fmt::format("more than {} different faults: the others are left out",
                                       FaultLedger::kFaultsMax),
                .remedy = "repair those that are there, then reboot"});
  }
  if (!damage_.empty()) {
    return make_warn(about, {.summary = "the file of its faults was damaged; what the log still "
                                        "has was read again",
                             .remedy = "look at the disk of the agent's data_dir",
                             .evidence = damage_ + "\n"});
  }
  return make_ok(about, fmt::format("{} is read", options_.kmsg));
}

// A check that has seen nothing says so.
void KernelCheck::add_quiet_ones(std::vector<CheckResult>& results, bool is_readable) const {
  std::set<std::string> quiet(options_.kernel.checks().begin(), options_.kernel.checks().end());
  quiet.insert({"gpu_xid", "nvswitch_sxid"});
  for (const CheckResult& result : results) quiet.erase(result.name);
  for (const std::string& check : quiet) {
    const CheckSubject about{.name = check, .subject = {}, .gpus = {}};
    const bool is_absent =
        (check == "gpu_xid" && !has_nvidia_) || (check == "nvswitch_sxid" && !has_nvswitch_);
    if (!is_readable) {
      results.push_back(make_unknown(
          about, {.summary = "the kernel's log cannot be read", .remedy = "see kernel_log"}));
    } else if (is_absent) {
      results.push_back(make_unknown(about, {.summary = "no such hardware", .remedy = "none"}));
    } else {
      results.push_back(make_ok(about, "none seen"));
    }
  }
}

}  // namespace hai
