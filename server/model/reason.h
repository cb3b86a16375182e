#pragma once
// Why a job waits: a stable code for programs and a sentence with the numbers for people.

#include <string>
#include <string_view>

namespace hai {

enum class PendingCode {
  held,               // by its user or an operator
  begin_time,         // begin_at is not reached
  backoff,            // its program failed and is started again a while later
  dependency,         // another job has to end as asked, or to start
  dependency_failed,  // … and can't any more
  user_inactive,
  array,  // it runs by its tasks; or the task is over the limit of its array
  quota,
  resources,       // not enough free nodes or GPUs now
  preempting,      // nodes are held for it while others save and leave
  starting,        // its ranks are being launched
  recovering,      // the server has just taken over and waits for the nodes to report
  not_considered,  // no planning pass has seen it yet
};
std::string_view to_string(PendingCode code);

struct PendingReason {
  PendingCode code = PendingCode::not_considered;
  std::string text;
  bool operator==(const PendingReason&) const = default;
};

}  // namespace hai
