#pragma once
// A knob that an administrator has set while the cluster runs; it goes before the config's value.

#include <string>

#include "common/time.h"

namespace hai {

struct KnobSetting {
  std::string name;
  std::string value;  // as set_knob() takes it
  std::string by;
  std::string reason;
  UnixTime set_at{};
  bool operator==(const KnobSetting&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name);
    visit("value", self.value);
    visit("by", self.by);
    visit("reason", self.reason);
    visit("set_at", self.set_at);
  }
};

}  // namespace hai
