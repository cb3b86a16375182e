#include "common/machine/systemd_unit.h"

#include <sys/stat.h>

#include <sstream>

#include "common/machine/bounded_child.h"
#include "common/text_check.h"

namespace hai {

bool has_systemd() {
  struct stat facts {};  // As sd_booted(3) does it.
  return ::lstat("/run/systemd/system", &facts) == 0 && S_ISDIR(facts.st_mode);
}

UnitState parse_unit_state(const std::string& text) {
  UnitState state;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = line.substr(0, equals);
    if (key == "LoadState") state.load = line.substr(equals + 1);
    if (key == "UnitFileState") state.enabled = line.substr(equals + 1);
    if (key == "ActiveState") state.active = line.substr(equals + 1);
  }
  return state;
}

Result<UnitState> unit_state(const std::string& unit) {
  const ChildOutput said = run_command(
      {"systemctl", "show", "--property=LoadState,UnitFileState,ActiveState", unit}, {});
  if (said.exit_code != 0) {
    return unavailable("systemctl show {}: {}", unit,
                       said.is_late ? "no answer" : printable(said.text));
  }
  return parse_unit_state(said.text);
}

Status start_unit(const std::string& unit) {
  const Result<UnitState> state = unit_state(unit);
  RETURN_IF_ERROR(state.status());
  if (state.value().load != "loaded") {
    return failed_precondition("the unit {} is {}: install its package", unit, state.value().load);
  }
  const ChildOutput said = run_command({"systemctl", "enable", "--now", unit}, {.patience = 120s});
  if (said.exit_code == 0) return ok();
  return failed_precondition("{} does not start: look at `journalctl -u {}`: {}", unit, unit,
                             said.is_late ? "no answer within 2 min" : printable(said.text));
}

}  // namespace hai
