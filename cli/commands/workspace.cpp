#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/child.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/file.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/submission.h"
#include "cli/workspace.h"
#include "cli/workspace_room.h"
#include "common/shell_words.h"
#include "proto/convert/spec_convert.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

// rsync's own protocol runs over `hai shell`, which carries bytes: what it starts on the node it
// asks for as ssh would be asked. $HAI_SELF is this program.
constexpr const char* kCarrier =
    R"(sh -c 'job=$1; shift; exec "$HAI_SELF" shell "$job" -- "$@"' carrier)";
// What the job that carries the files runs: it ends when no rsync of its user's has been there for
// half a minute, so that nothing is held for a laptop that was closed or a copy that was ended.
constexpr const char* kStay = R"(now=$(date +%s)
until=$((now + 30))
while [ $now -lt $until ]; do
  sleep 5
  now=$(date +%s)
  for process in /proc/[0-9]*; do
    [ -O "$process" ] || continue
    name=
    { read -r name <"$process/comm"; } 2>/dev/null
    if [ "$name" = rsync ]; then until=$((now + 30)); fi
  done
done)";

struct WorkspaceOptions {
  std::string folder = ".";
  std::string there;
  std::string group;
  std::string job;
  bool deletes = false;
  bool is_dry = false;
  bool is_forced = false;
};

enum class Way { push, pull, diff };

// One that does nothing but be on a node, as its user, so that files can be brought there.
JobSpec spec_of_carrier(const WorkspaceOptions& options) {
  JobSpec spec;
  spec.name = unique_name("workspace");
  spec.workspace = "/";
  spec.entrypoint = "/bin/sh";
  spec.parameters = join_words({"-c", kStay});
  spec.node_count = 1;
  spec.gpus_per_node = kNoGpus;
  spec.cpus_per_node = 1;
  spec.suspend.signal = SuspendOptions::kNoSignal;
  if (!options.group.empty()) spec.group = options.group;
  spec.tags = {"workspace"};
  return spec;
}

// A job in which this person's files can be reached; stopped at the end if it is our own.
class Carrier {
 public:
  explicit Carrier(Client& client) : client_(client) {}
  ~Carrier() {
    if (!is_own_) return;
    v1::ControlJobRequest request;
    request.add_jobs(job_);
    request.set_action(v1::JOB_ACTION_STOP);
    request.set_reason("the files are there");
    static_cast<void>(client_.control_job(request));  // it ends by itself, too
  }
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  Status begin(const WorkspaceOptions& options) {
    job_ = options.job;
    if (!job_.empty()) return ok();
    v1::SubmitJobRequest request;
    *request.mutable_spec() = to_proto(spec_of_carrier(options));
    request.set_request_id(new_request_id());
    const Result<v1::SubmitJobReply> reply = client_.submit_job(request);
    RETURN_IF_ERROR(reply.status());
    job_ = std::to_string(reply.value().job_id());
    is_own_ = true;
    const Result<v1::Job> job = wait_until_running(client_, job_);
    RETURN_IF_ERROR(job.status());
    if (!is_terminal(job.value())) return ok();
    return failed_precondition("job {} that was to carry the files {}: {}", job_,
                               job.value().state(), job.value().end_reason());
  }
  const std::string& job() const { return job_; }

 private:
  Client& client_;
  std::string job_;
  bool is_own_ = false;
};

// How rsync is to tell: as a copy, as the changes it would make, or as sums of those.
enum class Tells { copy, changes, sums };

std::vector<std::string> words_of(const Workspace& workspace, const std::string& there, Way way,
                                  const WorkspaceOptions& options, Tells tells) {
  std::vector<std::string> words = {"rsync", "--archive", "--compress", "--partial", "--mkpath",
                                    "-e",    kCarrier,    "--no-owner", "--no-group"};
  for (const char* name : {".haiignore", ".hfignore"}) {
    std::error_code error;
    const fs::path file = fs::path(workspace.here) / name;
    if (fs::is_regular_file(file, error)) words.push_back("--exclude-from=" + file.string());
  }
  words.push_back(std::string("--exclude=/") + kWorkspaceFile);
  if (options.deletes) words.emplace_back("--delete");
  // What a person has edited here since is not taken from him.
  if (way == Way::pull) words.emplace_back("--update");
  if (tells == Tells::sums) {
    words.insert(words.end(), {"--dry-run", "--stats", "--no-h"});
  } else if (tells == Tells::changes) {
    words.insert(words.end(), {"--dry-run", "--itemize-changes", "--omit-dir-times"});
  } else {
    words.emplace_back(::isatty(STDOUT_FILENO) != 0 ? "--info=progress2,stats1" : "--info=stats1");
  }
  words.emplace_back("--");
  words.push_back(way == Way::pull ? there : workspace.here + "/");
  words.push_back(way == Way::pull ? workspace.here + "/" : there);
  return words;
}

Result<CopySize> sums_of(const std::vector<std::string>& words) {
  std::string output;
  const int code = run_child(words, output);
  const std::optional<CopySize> size = parse_rsync_stats(output);
  if (code == 0 && size) return *size;
  return failed_precondition("rsync cannot tell how much there is to copy: it ended with code {}",
                             code);
}

// Of the folder's file system on the node, or of the nearest one above it that is there.
std::optional<int64_t> free_on_node(const std::string& self, const std::string& job,
                                    const std::string& folder) {
  constexpr const char* kAsk =
      R"(d=$1; while [ ! -d "$d" ]; do d=$(dirname "$d"); done; stat -f -c '%b %a %S' "$d")";
  std::string output;
  const int code = run_child({self, "shell", job, "--", "sh", "-c", kAsk, "sh", folder}, output);
  return code == 0 ? parse_free_bytes(output) : std::nullopt;
}

// Before anything runs for it: what was never pushed goes as a whole.
Status check_first_push(const Workspace& workspace, const WorkspaceOptions& options) {
  if (options.is_forced || find_workspace(workspace.here)) return ok();
  const std::string nowhere = workspace.here + "/.hai-nowhere/";
  const Result<CopySize> size =
      sums_of(words_of(workspace, nowhere, Way::push, options, Tells::sums));
  RETURN_IF_ERROR(size.status());
  return check_workspace_size(workspace.here, size.value().all);
}

Status check_room(const Workspace& workspace, const std::string& job, Way way,
                  const WorkspaceOptions& options) {
  if (options.is_forced) return ok();
  const std::string there = job + ":" + workspace.there + "/";
  const Result<CopySize> size = sums_of(words_of(workspace, there, way, options, Tells::sums));
  RETURN_IF_ERROR(size.status());
  const int64_t bytes = size.value().to_copy;
  const std::string& from = way == Way::push ? workspace.here : workspace.there;
  RETURN_IF_ERROR(check_workspace_size(from, bytes));
  if (options.deletes) return ok();  // how much that frees nobody knows
  const std::string& into = way == Way::push ? workspace.there : workspace.here;
  std::error_code error;
  const std::optional<int64_t> free =
      way == Way::push ? free_on_node(getenv("HAI_SELF"), job, into)
                       : std::optional(static_cast<int64_t>(fs::space(into, error).available));
  return free && !error ? check_free_space(into, bytes, *free) : ok();
}

Result<Workspace> workspace_of(const WorkspaceOptions& options) {
  std::error_code error;
  fs::path here = fs::canonical(options.folder, error);
  if (error || !fs::is_directory(here, error))
    return not_found("there is no folder {} here", options.folder);
  if (!options.there.empty()) {
    std::string there = options.there;
    while (there.size() > 1 && there.ends_with('/')) there.pop_back();
    RETURN_IF_ERROR(check_place(there));
    return Workspace{here.string(), fs::path(there).lexically_normal().string()};
  }
  if (std::optional<Workspace> known = find_workspace(here.string())) return *known;
  return invalid_argument("{} was not pushed yet: say where to, with --to /FOLDER/ON/THE/CLUSTER",
                          here.string());
}

int carry(Session& session, Way way, const WorkspaceOptions& options) {
  const Result<Workspace> workspace = workspace_of(options);
  if (workspace.status().code() == Code::invalid_argument)
    return session.usage_error(workspace.status().message());
  if (!workspace.is_ok()) return session.fail(workspace.status());
  if (find_in_path("rsync").empty()) {
    return session.fail(
        failed_precondition("there is no rsync here: apt-get install rsync; nodes need it, too"));
  }
  const bool copies = way != Way::diff && !options.is_dry;
  if (way == Way::push && copies) {
    const Status checked = check_first_push(workspace.value(), options);
    if (!checked.is_ok()) return session.fail(checked);
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  Carrier carrier(*client.value());
  if (const Status begun = carrier.begin(options); !begun.is_ok()) {
    const int code = session.fail(begun);
    return code == kNotFound ? kRefused : code;  // it is something that the job names
  }
  std::error_code error;
  setenv("HAI_SELF", fs::read_symlink("/proc/self/exe", error).c_str(), 1);
  if (!session.context.empty()) setenv("HAI_CONTEXT", session.context.c_str(), 1);
  if (copies) {
    const Status checked = check_room(workspace.value(), carrier.job(), way, options);
    if (!checked.is_ok()) return session.fail(checked);
  }
  const std::string there = carrier.job() + ":" + workspace.value().there + "/";
  const int code = run_child(
      words_of(workspace.value(), there, way, options, copies ? Tells::copy : Tells::changes));
  if (code != 0) {
    return session.fail(failed_precondition(
        "rsync ended with code {}, as it says above; what it has brought stays, and the same "
        "command goes on from there",
        code));
  }
  if (way != Way::push || !copies) return kOk;
  if (const Status status = remember_workspace(workspace.value()); !status.is_ok())
    return session.fail(status);
  say(fmt::format("{} is {} on the cluster: what you submit from here runs there",
                  workspace.value().here, workspace.value().there));
  return kOk;
}

void add_way(CLI::App& parent, Session& session, const std::shared_ptr<WorkspaceOptions>& options,
             Way way, const char* name, const char* description) {
  CLI::App* verb = parent.add_subcommand(name, description);
  verb->add_option("FOLDER", options->folder, "here; default: the current one");
  verb->add_option("--to", options->there, "where it is on the cluster; remembered by push")
      ->type_name("PATH");
  verb->add_option("-g,--group", options->group, "node group whose nodes have that storage");
  verb->add_option("--job", options->job, "through this running job of yours, not a small new one");
  if (way != Way::diff) verb->add_flag("-n,--dry-run", options->is_dry, "say what it would do");
  if (way != Way::diff)
    verb->add_flag("--force", options->is_forced,
                   "copy more than 50 GiB, or than seems to be free");
  verb->add_flag("--delete", options->deletes, "what is gone on the one side goes on the other");
  verb->callback([&session, options, way] { session.exit_code = carry(session, way, *options); });
}

}  // namespace

void add_workspace(CLI::App& app, Session& session) {
  CLI::App* workspace =
      app.add_subcommand("workspace", "Bring a folder to the cluster's storage and back")
          ->group("Submit");
  const auto options = std::make_shared<WorkspaceOptions>();
  workspace->require_subcommand(1);
  session.help[workspace] = {
      .details =
          "From a machine that does not share the cluster's storage, as a laptop. rsync carries "
          "what has changed, through a small job on a node, as you; a copy that was cut off goes "
          "on. What .haiignore (or .hfignore) lists stays here. Where a folder went is kept in its "
          "file .hai-workspace, and what is submitted from it runs there.",
      .examples = {{"hai workspace push --to /data/ann/llm", "the first time"},
                   {"hai workspace push && hai python train.py -- -n 4 -f", "and later"},
                   {"hai workspace diff", "what a push would change"},
                   {"hai workspace pull", "results, back here; what is newer here stays"}}};
  add_way(*workspace, session, options, Way::push, "push", "Bring what has changed there");
  add_way(*workspace, session, options, Way::pull, "pull",
          "Bring what has changed back here; files that are newer here stay");
  add_way(*workspace, session, options, Way::diff, "diff", "Show what a push would change");
}

}  // namespace hai::cli
