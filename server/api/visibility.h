#pragma once
// Whose jobs people see, as the server's config says it; what follows from it is in sight.h.

namespace hai {

enum class Visibility {
  all,   // everybody sees all jobs
  team,  // those of who shares a user group with him, and his own
  own,   // his own
};

}  // namespace hai
