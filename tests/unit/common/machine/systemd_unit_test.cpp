#include "common/machine/systemd_unit.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(SystemdUnit, ReadsWhatSystemctlShows) {
  const UnitState state =
      parse_unit_state("LoadState=loaded\nActiveState=active\nUnitFileState=enabled\nOther=x=y\n");
  EXPECT_EQ(state.load, "loaded");
  EXPECT_EQ(state.active, "active");
  EXPECT_EQ(state.enabled, "enabled");
}

TEST(SystemdUnit, LeavesOutWhatIsNotSaid) {
  const UnitState state = parse_unit_state("LoadState=not-found\nUnitFileState=\n");
  EXPECT_EQ(state.load, "not-found");
  EXPECT_EQ(state.enabled, "");
  EXPECT_EQ(state.active, "");
}

}  // namespace
}  // namespace hai
