#pragma once
// Submitting: the options that `hai run`, `python`, `bash` and `exec` share, and what happens after
// the server's answer.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "common/job_spec.h"

namespace CLI {
class App;
}

namespace hai::v1 {
class SubmitJobReply;
}

namespace hai::cli {

class Client;
struct JobFile;
class Session;

struct SubmissionOptions {
  std::optional<int> nodes;
  std::string gpus;  // a number, or none
  std::optional<int> cpus;
  std::string memory;
  std::string gpu_type;
  std::vector<std::string> labels;
  std::string array;
  std::string nodelist;  // host lists
  std::string exclude;
  std::string name;
  std::string group;
  std::string image;
  std::vector<std::string> mounts;
  std::vector<std::string> services;
  std::string priority;
  std::vector<std::string> environments;  // K=V, or K: its value here
  std::vector<std::string> secrets;       // VARIABLE=NAME
  std::string venv;                       // a name, a folder, or none
  std::vector<std::string> tags;
  std::vector<std::string> depends_on;
  std::string suspend_signal;
  std::string grace;
  std::string timeout;
  std::string watchdog;
  std::string begin_at;
  std::string launch;
  std::string env_style;
  bool restart_on_failure = false;
  std::optional<int> restart_max;
  bool interactive = false;
  bool release_early = false;
  bool shared_in_group = false;
  bool follow = false;
  bool dry_run = false;
  std::vector<std::string> terminal = {};  // the command that gets this terminal (interactive.h)
  OutputFormat output = OutputFormat::table;
};

void add_submission_options(CLI::App& verb, SubmissionOptions& options);

// What was given on the command line wins over what is in `spec`.
Status apply_options(const SubmissionOptions& options, JobSpec& spec);

// Makes a repeated request safe when the first answer was lost.
std::string new_request_id();

// What came of it, and its log and end if asked. Returns the exit code.
int tell_submitted(Session& session, Client& client, const v1::SubmitJobReply& reply,
                   OutputFormat output, bool is_followed);

// "train" + a suffix that makes it unique among a user's jobs: "train-3f9k2a".
std::string unique_name(const std::string& stem);

// Sends it, says what came of it, follows it if asked. Returns the exit code. A refusal names the
// line of `file`, if it came from one.
int submit(Session& session, const SubmissionOptions& options, JobSpec spec,
           const JobFile* file = nullptr);

}  // namespace hai::cli
