#pragma once
// Arrays: a job that runs by its tasks alone. Each task is a job of its own, with the array's name
// and spec; a few are made ahead of those that start, so that an array of 100,000 is one record
// until then.

#include "server/model/decision.h"

namespace hai {

// Makes the next tasks of every array that may have some, and ends those whose tasks have ended.
void decide_arrays(Decision& decision);
// The same of one. At most `tasks_max` are made.
void advance_array(Decision& decision, JobId array, int tasks_max);
// For a sentence: rounded up.
constexpr int64_t mebibytes(int64_t bytes) { return (bytes + (1 << 20) - 1) >> 20; }
// How many are made with a submit or an edit of one.
int tasks_at_submit(const JobSpec& spec);

// Whether task `index` may be made before its turn because somebody has named it.
// failed_precondition or not_found say why it may not be.
Status check_task(const ClusterState& state, const Job& array, int index);
// Makes it. It waits for what its array waits for, and is held if that is or if the array's limit
// leaves no room. check_task() has passed.
JobId make_task(Decision& decision, JobId array, int index);

// How many more tasks of the array its limit lets run; below 0 if there are too many.
int room_in(const ClusterState& state, const Job& array);
// Takes back what holds a task or another job. One of which its array's limit leaves no room stays
// held, by that.
void release(Decision& decision, const Job& job);

inline constexpr int kTasksMadeAtOnce = 200;   // of one array, on a tick
inline constexpr int kTasksMadeInAll = 1'000;  // of all of them
// In the texts of these: each has its whole spec.
inline constexpr int64_t kTaskTextBytes = 4 << 20;
inline constexpr int kTasksAhead = 400;    // that wait
inline constexpr int kTasksAtSubmit = 16;  // made at once; the others within a second
inline constexpr int64_t kTaskTextBytesAtSubmit = 1 << 20;
// In the texts of all unfinished tasks that an edit of their array stores anew.
inline constexpr int64_t kEditTextBytes = 16 << 20;

}  // namespace hai
