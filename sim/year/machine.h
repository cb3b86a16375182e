#pragma once
// One node's hardware: what is broken in it, which nobody sees but a simulator, and what its checks
// make of that. The kernel's log goes through the agent's own ledger and Xid table.

#include <optional>
#include <string>
#include <vector>

#include "agent/health/fault_ledger.h"
#include "agent/health/xid_table.h"
#include "common/rng.h"
#include "sim/trace/fleet_machines.h"
#include "sim/year/fault_kinds.h"

namespace hai {

class Machine {
 public:
  // `xids` outlives it.
  Machine(const XidTable& xids, bool is_lemon) : xids_(xids), is_lemon_(is_lemon) {}

  // ---- what happens to it
  void strike(const FaultKind& kind, int gpu, Defect defect, UnixTime now);
  void cut_link(UnixTime now);
  void heal_link() { link_down_since_.reset(); }
  // The cable has to be replaced.
  void break_link() { link_is_broken_ = true; }
  void reset_gpus(Rng& rng);
  // Everything volatile is gone; mends what a reboot mends, if `rng` wants it.
  void reboot(Rng& rng);
  void clear(const ClearFault& order) { ledger_.clear({order.name, order.subject, order.at}); }
  // A person mends what is broken, and replaces what makes it a lemon if he was told that it is.
  void service(bool is_known_lemon);
  // Broken with this check failing until repaired() is called; no hook mends it.
  void take_out(std::string_view check, UnixTime now);
  void repaired();

  // ---- what the agent sees
  std::vector<CheckResult> checks(UnixTime now);
  // Also takes part in judging: numbers that the fleet's are compared with.
  ValidationRun validate(Rng& rng) const;

  // ---- the truth
  bool is_broken() const;
  bool is_lemon() const { return is_lemon_; }
  bool is_link_down() const { return link_down_since_.has_value(); }
  // Broken so that no check shows it; such a node goes on failing.
  bool fails_unseen() const { return defect_ != Defect::none && check_.empty(); }
  bool may_reboot() const { return defect_ != Defect::service; }

  // A port that is down so long fails its check (agent/health's ib_down_seconds, ib_flaps).
  static constexpr Duration kDownFails = 30s;
  static constexpr Duration kFlapWindow = 3h;
  static constexpr size_t kFlapsFail = 3;

 private:
  void set_defect(Defect defect, const FaultKind& kind, int gpu, UnixTime now);
  void mend();
  void add_link_checks(std::vector<CheckResult>& results, UnixTime now);

  const XidTable& xids_;
  bool is_lemon_ = false;
  FaultLedger ledger_;
  Defect defect_ = Defect::none;
  std::string check_;  // that shows the defect
  HealthTier tier_ = HealthTier::log;
  int gpu_ = -1;
  UnixTime broken_at_{};
  bool is_out_ = false;
  std::optional<UnixTime> link_down_since_;
  bool link_is_broken_ = false;
  std::vector<UnixTime> flaps_;
};

}  // namespace hai
