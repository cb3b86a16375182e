#pragma once
// What a node lets its ranks do (docs/operations/confinement.md): what the agent's config says, and
// what follows from it for one rank, which its shim carries out.

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai {

enum class Isolation {
  none,    // the submitter's identity, nothing else
  shared,  // also no privileges, no dangerous system calls, and only its own devices and its share
  strict,  // also /tmp, /dev/shm and a /proc of its own
};
std::string_view to_string(Isolation isolation);
Result<Isolation> parse_isolation(std::string_view text);

// Of the agent's config.
struct ConfinementSettings {
  Isolation isolation = Isolation::strict;
  std::vector<std::string> system_users;   // whom jobs may run as though their uid is the system's
  int processes_max = 16'384;              // of a rank that has the whole node; 0 = no limit
  std::vector<std::string> devices;        // that every rank may open; paths, * in their names
  std::vector<std::string> allowed_calls;  // of those that refused_calls.h refuses
};

// Of one rank.
struct Confinement {
  std::vector<std::string> system_users;
  bool drops_privileges = false;  // and filters system calls
  std::vector<std::string> allowed_calls;
  bool has_own_mounts = false;
  std::vector<std::string> kept_paths;  // below /tmp or /dev/shm, and still to be seen
  bool counts_gpus_from_zero = false;   // only its GPUs can be opened, and CUDA counts no other
  bool operator==(const Confinement&) const = default;
};

// Those of `paths` that a rank with a /tmp and a /dev/shm of its own would no longer find.
std::vector<std::string> paths_to_keep(const std::vector<std::string>& paths);

// Where ranks run as the agent's own user: none of them looks into this process, or takes it over.
// It leaves no core dumps then.
void hide_from_own_user();

// Whether this process may give a rank mounts of its own. Tries it, in a process that ends at once.
bool can_make_mounts();

}  // namespace hai
