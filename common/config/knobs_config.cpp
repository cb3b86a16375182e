#include "common/config/knobs_config.h"

namespace hai {

void read_knobs(YamlReader& reader, Knobs* knobs) {
  bool is_good = true;
  for (const KnobRange& range : knob_ranges()) {
    const std::string path = "knobs." + range.name;
    std::string text;
    if (!reader.string(path, &text)) continue;
    const Status status = set_knob(*knobs, range.name, text);
    if (status.is_ok()) continue;
    is_good = false;
    // The path already names the knob.
    const std::string& message = status.message();
    const std::string prefix = range.name + ": ";
    reader.fail(path, message.starts_with(prefix) ? message.substr(prefix.size()) : message);
  }
  if (!is_good) return;  // Relations between wrong values would only confuse.
  if (const Status status = check_knobs(*knobs); !status.is_ok()) {
    reader.fail("knobs", status.message());
  }
}

}  // namespace hai
