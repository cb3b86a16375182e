#pragma once
// Asks the programs of the rank to save and end, by a signal that most would die of.
//
// A bash that runs the training catches nothing and would only die before it; what catches the
// signal knows what to do. So it goes to those that catch it. Where nobody does, nobody can save,
// and the GPUs need not idle: then it goes to all that do not ignore it.

#include <sys/types.h>

#include <set>

namespace hai {

class SaveSignal {
 public:
  explicit SaveSignal(int signal) : signal_(signal) {}

  // False if nobody was told.
  bool send();
  // A process that one of those who were told forked just then has not got the signal, and would
  // stay for the whole grace: it gets it now. To be called when a child of the shim has ended.
  // Where somebody catches the signal this does nothing, as a new process may be what saves.
  void send_to_new();
  void withdraw() { told_to_die_.clear(); }

 private:
  int signal_;
  std::set<pid_t> told_to_die_;  // empty where somebody catches the signal
};

}  // namespace hai
