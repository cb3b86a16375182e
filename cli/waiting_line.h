#pragma once
// Tells the user on standard error how a waiting job fares: on a terminal one line that is
// rewritten, else a line for each change. A thread of its own asks why the job waits, as the answer
// may take seconds.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/terminal.h"
#include "common/time.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

class Client;

class WaitingLine {
 public:
  explicit WaitingLine(const Client& client);
  ~WaitingLine();  // the line is wiped
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

  // The job as the server tells it now.
  void update(const v1::Job& job);
  // It waits no longer: where it starts, and how long it has waited.
  void tell_start(const v1::Job& job);
  // Something else will be written: the line goes, until the next update.
  void wipe();

 private:
  void run();
  bool may_ask() const;
  void ask_why(std::unique_lock<std::mutex>& lock);
  void show();

  const Terminal terminal_;
  const bool in_place_;
  const std::unique_ptr<Client> client_;

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::optional<v1::Job> job_;
  std::optional<v1::WhyJobReply> why_;
  UnixTime since_{};
  MonoTime seen_at_{};
  MonoTime asked_{};
  bool is_stale_ = false;  // the job has changed since why_
  bool is_over_ = false;
  bool is_shown_ = false;
  std::string told_;          // the last line, where it is not in place
  std::string told_outlook_;  // without its times

  std::thread thread_;  // last: it uses the others
};

}  // namespace hai::cli
