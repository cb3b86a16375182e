#pragma once
// How the entrypoint of a job is started.

#include <string>
#include <string_view>
#include <vector>

namespace hai {

// What goes before it: python3 or bash for a script of that kind, nothing for what is started as it
// is.
inline std::vector<std::string> interpreter_of(std::string_view entrypoint) {
  // -u: the log must show what was printed before a crash.
  if (entrypoint.ends_with(".py")) return {"python3", "-u"};
  if (entrypoint.ends_with(".sh")) return {"bash"};
  return {};
}

}  // namespace hai
