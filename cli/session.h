#pragma once
// One run of `hai`: the options that hold for every verb, the connection (made at its first use),
// the exit code.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.h"
#include "cli/verb_help.h"
#include "common/status.h"

namespace hai::cli {

class Client;

// "hai: TEXT" on standard error: one line, nothing that moves the cursor.
void say(std::string_view text);
// The same for a text with lines of its own, e.g. the end of a log.
void say_lines(std::string_view text);

class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  std::string context;               // --context or $HAI_CONTEXT; "" = the current one
  std::vector<std::string> program;  // hai python|bash|exec: what stands before the last "--"
  bool is_submission = false;        // there was a "--"
  bool is_simulation = false;        // there was a "++"
  int exit_code = 0;
  Terminal terminal;
  HelpBook help;  // filled by the verbs

  // Connects to the chosen context; not_found or failed_precondition without one.
  Result<Client*> client();

  // Say what went wrong, and the exit code for it.
  int fail(const Status& status) const;
  int usage_error(std::string_view text) const;

 private:
  std::unique_ptr<Client> client_;
  mutable int suggestions_left_ = 3;  // of a long list of wrong names the first ones tell enough
  std::function<void()> forget_session_;  // of a token that was not given but got
  std::string dev_cluster_;               // its name, if the context is one on this machine
};

}  // namespace hai::cli
