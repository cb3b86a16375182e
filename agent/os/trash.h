#pragma once
// Deletes folders beside the agent's loop: a rank may leave millions of files, and while the loop
// deletes it hears neither the server nor its watchdog.

#include <string>

#include "common/log_store/side_thread.h"

namespace hai {

class Trash {
 public:
  // Makes `folder`, and deletes what an agent before has left in it.
  Trash(Loop& loop, std::string folder);

  // The folder at `path`, on the file system of the trash, is not there any more when this returns,
  // unless it cannot be moved: then some time later. What cannot be deleted is tried again with the
  // next one, and by the next agent.
  void take(const std::string& path);
  // Of another file system: deleted some time later.
  void take_elsewhere(const std::string& path);

 private:
  void sweep();

  const std::string folder_;
  int64_t taken_ = 0;
  SideThread thread_;
};

}  // namespace hai
