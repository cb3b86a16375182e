#pragma once
// systemd's units as `systemctl` knows them: asked, and enabled for this and every later start of
// the machine.

#include <string>

#include "common/status.h"

namespace hai {

// The words of `systemctl show`.
struct UnitState {
  std::string load;     // "loaded", "not-found", "masked", "bad-setting"
  std::string enabled;  // "enabled", "disabled", ...; "" = not known
  std::string active;   // "active", "activating", "inactive", "failed"
};

// Whether systemd runs this machine: in most containers it does not.
bool has_systemd();

// "KEY=VALUE" lines, as `systemctl show` prints them; keys that are missing stay "".
UnitState parse_unit_state(const std::string& text);
// `unavailable` if systemctl says nothing within some seconds.
Result<UnitState> unit_state(const std::string& unit);

// Enables and starts the unit, and waits until it has started (2 min at most).
// `failed_precondition` if it is not installed or does not start, with where to look.
Status start_unit(const std::string& unit);

}  // namespace hai
