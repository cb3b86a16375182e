#pragma once
// Whose jobs people see, as the server's config says it; what follows from it is in sights.h.

namespace hai {

enum class Visibility {
  open,  // everybody sees all jobs, with what they run
  all,   // everybody sees all jobs; what they run, as under team
  team,  // those of who shares a user group with him, and his own
  own,   // his own
};

// Where no config says otherwise.
inline constexpr Visibility kVisibilityDefault = Visibility::all;

// Whether somebody may not even know that there is a job.
constexpr bool hides_jobs(Visibility visibility) {
  return visibility == Visibility::team || visibility == Visibility::own;
}

}  // namespace hai
