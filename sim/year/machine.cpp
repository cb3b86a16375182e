#include "sim/year/machine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hai {
namespace {

// Assumed: how often a reset or reboot mends what it should, and how good a validation is.
constexpr double kHookMends = 0.95;
constexpr double kFindsSeen = 0.99;       // a defect that a check sees
constexpr double kFindsUnseen = 0.9;      // one that shows under load only
constexpr double kFindsLemon = 0.2;       // what fails once in days
constexpr double kFindsNothing = 0.0005;  // a healthy node fails all the same
constexpr double kNoise = 0.01;           // of a measured number, one standard deviation

double gauss(Rng& rng) {
  const double u = 1 - rng.unit();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * rng.unit());
}

std::string subject_of(int gpu) { return gpu < 0 ? "" : fmt::format("gpu {}", gpu); }
GpuSet set_of(int gpu) { return gpu < 0 ? GpuSet{} : GpuSet{uint64_t{1} << gpu}; }

}  // namespace

bool Machine::is_broken() const { return defect_ != Defect::none || link_is_broken_ || is_out_; }

void Machine::strike(const FaultKind& kind, int gpu, Defect defect, UnixTime now) {
  if (kind.xid != 0) {
    const XidLine line{.bus_id = fmt::format("0000:{:02x}:00", gpu), .code = kind.xid};
    ledger_.add({.about = {.name = "gpu_xid",
                           .subject = fmt::format("gpu {} xid {}", gpu, kind.xid),
                           .gpus = set_of(gpu)},
                 .what = fmt::format("Xid {}", kind.xid),
                 .group = subject_of(gpu),
                 .rule = xids_.rule_of(line, false),
                 .line = fmt::format("NVRM: Xid (PCI:{}): {}", line.bus_id, kind.xid),
                 .at = now});
  }
  if (defect > defect_) set_defect(defect, kind, kind.xid == 0 ? -1 : gpu, now);
}

void Machine::set_defect(Defect defect, const FaultKind& kind, int gpu, UnixTime now) {
  defect_ = defect;
  check_ = kind.check;
  tier_ = kind.tier;
  gpu_ = gpu;
  broken_at_ = now;
}

void Machine::mend() {
  if (is_out_) return;
  defect_ = Defect::none;
  check_.clear();
}

void Machine::take_out(std::string_view check, UnixTime now) {
  is_out_ = true;
  defect_ = Defect::service;
  check_ = check;
  tier_ = HealthTier::evict;
  gpu_ = -1;
  broken_at_ = now;
}

void Machine::repaired() {
  is_out_ = false;
  mend();
}

void Machine::cut_link(UnixTime now) {
  if (link_down_since_) return;
  link_down_since_ = now;
  flaps_.push_back(now);
}

void Machine::reset_gpus(Rng& rng) {
  if (defect_ == Defect::none) return;
  if (defect_ != Defect::reset) return;
  if (rng.chance(kHookMends)) {
    mend();
  } else {
    defect_ = Defect::reboot;
  }
}

void Machine::reboot(Rng& rng) {
  ledger_ = FaultLedger();
  flaps_.clear();
  if (defect_ == Defect::none || defect_ == Defect::service) return;
  if (rng.chance(kHookMends)) {
    mend();
  } else {
    defect_ = Defect::service;
  }
}

void Machine::service(bool is_known_lemon) {
  ledger_ = FaultLedger();
  flaps_.clear();
  mend();
  link_is_broken_ = false;
  link_down_since_.reset();
  if (is_known_lemon) is_lemon_ = false;
}

void Machine::add_link_checks(std::vector<CheckResult>& results, UnixTime now) {
  constexpr std::string_view kPort = "mlx5_0/1";
  std::erase_if(flaps_, [&](UnixTime at) { return now - at >= kFlapWindow; });
  if (!flaps_.empty()) {
    const bool is_fail = flaps_.size() >= kFlapsFail;
    results.push_back({.name = "ib_flaps",
                       .subject = std::string(kPort),
                       .verdict = is_fail ? CheckVerdict::fail : CheckVerdict::warn,
                       .tier = is_fail ? HealthTier::drain : HealthTier::log,
                       .summary = fmt::format("{} losses of the link in 3h", flaps_.size()),
                       .at = flaps_.back()});
  }
  if (!link_down_since_) return;
  const bool is_fail = now - *link_down_since_ >= kDownFails;
  results.push_back({.name = "ib_link",
                     .subject = std::string(kPort),
                     .verdict = is_fail ? CheckVerdict::fail : CheckVerdict::warn,
                     .tier = is_fail ? HealthTier::evict : HealthTier::log,
                     .summary = "the port is not ACTIVE",
                     .at = is_fail ? *link_down_since_ + kDownFails : *link_down_since_});
}

std::vector<CheckResult> Machine::checks(UnixTime now) {
  std::vector<CheckResult> results = ledger_.results(now);
  if (!check_.empty()) {
    results.push_back({.name = check_,
                       .subject = subject_of(gpu_),
                       .verdict = CheckVerdict::fail,
                       .tier = tier_,
                       .summary = "broken",
                       .gpus = set_of(gpu_),
                       .at = broken_at_});
  }
  add_link_checks(results, now);
  std::ranges::sort(results, {},
                    [](const CheckResult& check) { return std::tie(check.name, check.subject); });
  return results;
}

ValidationRun Machine::validate(Rng& rng) const {
  ValidationRun run;
  run.takes = std::chrono::seconds(rng.between(600, 900));
  const double found = is_broken() ? (fails_unseen() ? kFindsUnseen : kFindsSeen)
                       : is_lemon_ ? kFindsLemon
                                   : kFindsNothing;
  for (const auto& [test, metric, usual] :
       {std::tuple("memory_bandwidth", "triad", 280.0), std::tuple("gemm", "fp16", 220.0),
        std::tuple("all_reduce", "bus", 8.0)}) {
    run.measurements.push_back({.test = test,
                                .metric = metric,
                                .unit = "GB/s",
                                .value = usual * (1 + kNoise * gauss(rng)),
                                .verdict = CheckVerdict::ok});
  }
  if (rng.chance(found)) {
    Measurement& bad = run.measurements[1];
    bad.verdict = CheckVerdict::fail;
    bad.detail = "wrong results";
    run.exit_code = 1;
  }
  return run;
}

}  // namespace hai
