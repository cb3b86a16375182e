#include "cli/submission.h"

#include <sys/random.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/failed_rank.h"
#include "cli/follow.h"
#include "cli/interactive.h"
#include "cli/job_file.h"
#include "cli/python_environment.h"
#include "cli/session.h"
#include "common/bytes.h"
#include "common/signal_name.h"
#include "common/spec/job_spec_yaml.h"
#include "common/whole_number.h"
#include "proto/convert/spec_convert.h"

namespace hai::cli {
namespace {

// Letters and digits that are not mistaken for one another.
std::string random_word(size_t length) {
  constexpr std::string_view kLetters = "abcdefghijkmnpqrstuvwxyz23456789";
  std::string word(length, '\0');
  CHECK(getrandom(word.data(), word.size(), 0) == static_cast<ssize_t>(length));
  for (char& c : word) c = kLetters[static_cast<unsigned char>(c) % kLetters.size()];
  return word;
}

Status set_duration(const std::string& option, const std::string& text, Duration& into) {
  if (text.empty()) return ok();
  const Result<Duration> value = parse_duration(text);
  if (!value.is_ok()) return invalid_argument("{}: {}", option, value.status().message());
  into = value.value();
  return ok();
}

template <typename Enum>
void set_word(const std::string& text, std::initializer_list<Enum> words, Enum& into) {
  for (const Enum word : words) {
    if (to_string(word) == text) into = word;
  }
}

Status set_environment(const std::string& text, JobSpec& spec) {
  const size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  if (key.empty()) return invalid_argument("--env: '{}' has no name before the =", text);
  if (equals != std::string::npos) {
    spec.environments[key] = text.substr(equals + 1);
    return ok();
  }
  const char* here = std::getenv(key.c_str());
  if (here == nullptr)
    return invalid_argument("--env: {} is not set here; write {}=VALUE", key, key);
  spec.environments[key] = here;
  return ok();
}

Status set_secret(const std::string& text, JobSpec& spec) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return invalid_argument("--secret: '{}' is not VARIABLE=NAME", text);
  }
  spec.secrets[text.substr(0, equals)] = text.substr(equals + 1);
  return ok();
}

void set_group(const std::string& text, JobSpec& spec) {
  const size_t hash = text.find('#');
  spec.group = text.substr(0, hash);
  spec.zone = hash == std::string::npos ? "" : text.substr(hash + 1);
}

int follow(Session& session, Client& client, int64_t job_id) {
  detach_on_interrupt(fmt::format(
      "no longer following job {0}, it goes on: `hai logs -f {0}`, `hai stop {0}`", job_id));
  const Result<v1::Job> job =
      follow_job(client, {.job = std::to_string(job_id), .attempt = 1, .follow = true});
  if (!job.is_ok()) return session.fail(job.status());
  tell_failed_rank(client, job.value(), 0);
  say(end_text(job.value()));
  return exit_code_of_ended(job.value());
}

}  // namespace

// How it is started, told to leave, and ended.
static void add_run_options(CLI::App& verb, SubmissionOptions& options) {
  verb.add_option("--suspend-signal", options.suspend_signal,
                  "ask to save with it, e.g. SIGUSR1; default: SIGTERM for "
                  "programs without the SDK; none: with no signal");
  verb.add_option("--grace", options.grace, "longest time to save when suspended, e.g. 60s")
      ->type_name("DURATION");
  verb.add_option("--timeout", options.timeout, "longest time of one attempt, e.g. 12h")
      ->type_name("DURATION");
  verb.add_option("--watchdog", options.watchdog, "no log line for so long is a hang, e.g. 30m")
      ->type_name("DURATION");
  verb.add_option("--begin-at", options.begin_at, "not before, e.g. 2026-11-20T08:00:00Z")
      ->type_name("TIME");
  verb.add_option("--launch", options.launch, "how often it is started on a node")
      ->check(CLI::IsMember({"per_node", "per_gpu"}));
  verb.add_option("--env-style", options.env_style, "whose environment variables it is given")
      ->check(CLI::IsMember({"hai", "torch", "slurm"}));
  verb.add_flag("--restart-on-failure", options.restart_on_failure,
                "run again when it fails, each time a little later");
  verb.add_option("--restart-max", options.restart_max, "the same, so often at most; default: 3")
      ->check(CLI::Range(0, 1'000));
  verb.add_flag("--interactive", options.interactive,
                "makes room for nobody once it runs, if the site has interactive nodes free");
  verb.add_flag("--release-early", options.release_early,
                "a rank that ends with code 0 gives its place back while others still run");
  verb.add_flag("--shared-in-group", options.shared_in_group,
                "those who share a user group with you read its logs, too");
}

void add_submission_options(CLI::App& verb, SubmissionOptions& options) {
  verb.add_option("-n,--nodes", options.nodes, "nodes to run on")->check(CLI::Range(1, 100'000));
  verb.add_option("-g,--group", options.group, "node group; GROUP#ZONE pins a zone");
  verb.add_option("-p,--priority", options.priority, "auto, low ... extreme_high, or its number");
  verb.add_option(
      "-i,--image", options.image,
      "container image: NAME[:TAG] of a registry, oci:PATH, docker-archive:PATH, rootfs:PATH");
  verb.add_option("--service", options.services,
                  "a port of its programs by name: NAME:PORT; behind it :tcp, :keep_path, :rank=N");
  verb.add_option("--mount", options.mounts, "folder of the node in the image: FROM[:TO][:ro]");
  verb.add_option("--name", options.name, "unique among your unfinished jobs");
  verb.add_option("--gpus", options.gpus, "GPUs per node, or none; default: the whole node")
      ->type_name("N|none")
      ->check(CLI::Range(0, 64) | CLI::IsMember({"none"}));
  verb.add_option("--cpus", options.cpus, "CPUs per node; default: in proportion to the GPUs")
      ->check(CLI::Range(0, 65'536));
  verb.add_option("--memory", options.memory, "memory per node, e.g. 64Gi; default likewise")
      ->type_name("SIZE");
  verb.add_option("--array", options.array,
                  "a job of many tasks: their numbers, e.g. 0-499, or 0-499%20 for at most 20 "
                  "unfinished at once; HAI_ARRAY_TASK_ID tells each its own")
      ->type_name("RANGE");
  verb.add_option("--gpu-type", options.gpu_type, "only nodes with such GPUs, e.g. h800")
      ->type_name("TYPE");
  verb.add_option("--label", options.labels, "only nodes with this label; may be repeated")
      ->type_name("LABEL")
      ->allow_extra_args(false);
  verb.add_option("--nodelist", options.nodelist, "only these nodes, e.g. node-[1-8]")
      ->type_name("NODES");
  verb.add_option("--exclude", options.exclude, "none of these nodes")->type_name("NODES");
  verb.add_option("-e,--env,--environments", options.environments, "K=V, or K to pass yours on")
      ->type_name("K=V")
      ->allow_extra_args(false);
  verb.add_option("--venv", options.venv,
                  "Python environment: a name of hai env, NAME[OWNER], a folder, or none")
      ->type_name("NAME");
  verb.add_option("--secret", options.secrets, "give it one of yours (hai secret) in a variable")
      ->type_name("VARIABLE=NAME")
      ->allow_extra_args(false);
  verb.add_option("--tag", options.tags, "a tag; may be repeated")->allow_extra_args(false);
  verb.add_option("--after,--depends-on", options.depends_on,
                  "start when this job has succeeded, or with afterany:, afternotok: or after: in "
                  "front when it has ended, failed or started; with aftercorr: each task of an "
                  "array after its like; or singleton")
      ->type_name("JOB")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_run_options(verb, options);
  verb.add_flag("-f,--follow", options.follow, "show its log and end with its exit code");
  verb.add_flag("--dry-run", options.dry_run, "print the job file this would submit");
  add_output_option(verb, options.output);
}

Status apply_options(const SubmissionOptions& options, JobSpec& spec) {
  if (!options.name.empty()) spec.name = options.name;
  if (options.nodes) spec.node_count = *options.nodes;
  if (options.gpus == "none") {
    spec.gpus_per_node = kNoGpus;
  } else if (!options.gpus.empty()) {
    spec.gpus_per_node = whole_number<int>(options.gpus).value_or(0);
  }
  if (options.cpus) spec.cpus_per_node = *options.cpus;
  if (!options.array.empty()) spec.array = options.array;
  NodeFilter& filter = spec.node_filter;
  if (!options.gpu_type.empty()) filter.gpu_type = options.gpu_type;
  filter.labels.insert(filter.labels.end(), options.labels.begin(), options.labels.end());
  if (!options.nodelist.empty()) filter.nodes = options.nodelist;
  if (!options.exclude.empty()) filter.exclude = options.exclude;
  if (!options.memory.empty()) {
    const Result<int64_t> bytes = parse_bytes(options.memory);
    if (!bytes.is_ok()) return invalid_argument("--memory: {}", bytes.status().message());
    spec.memory_per_node_bytes = bytes.value();
  }
  if (!options.group.empty()) set_group(options.group, spec);
  if (options.interactive) spec.is_interactive = true;
  if (options.release_early) spec.releases_early = true;
  if (options.shared_in_group) spec.is_shared_in_group = true;
  if (!options.image.empty()) spec.image = options.image;
  if (!options.mounts.empty()) spec.program.mounts = options.mounts;
  if (!options.services.empty()) spec.program.services = options.services;
  if (!options.priority.empty()) {
    const Result<Priority> priority = parse_priority(options.priority);
    RETURN_IF_ERROR(priority.status());
    spec.priority = priority.value();
  }
  for (const std::string& text : options.environments) RETURN_IF_ERROR(set_environment(text, spec));
  RETURN_IF_ERROR(set_python_environment(options.venv, spec));
  for (const std::string& text : options.secrets) RETURN_IF_ERROR(set_secret(text, spec));
  spec.tags.insert(spec.tags.end(), options.tags.begin(), options.tags.end());
  spec.depends_on.insert(spec.depends_on.end(), options.depends_on.begin(),
                         options.depends_on.end());
  if (options.suspend_signal == SuspendOptions::kNoSignal) {
    spec.suspend.signal = options.suspend_signal;
  } else if (!options.suspend_signal.empty()) {
    const Result<int> signal = parse_signal(options.suspend_signal);
    if (!signal.is_ok()) return invalid_argument("--suspend-signal: {}", signal.status().message());
    spec.suspend.signal = signal_name(signal.value());
  }
  RETURN_IF_ERROR(set_duration("--grace", options.grace, spec.suspend.grace));
  RETURN_IF_ERROR(set_duration("--timeout", options.timeout, spec.timeout));
  RETURN_IF_ERROR(set_duration("--watchdog", options.watchdog, spec.watchdog));
  if (!options.begin_at.empty()) {
    const Result<UnixTime> time = parse_rfc3339(options.begin_at);
    if (!time.is_ok()) return invalid_argument("--begin-at: {}", time.status().message());
    spec.begin_at = time.value();
  }
  set_word(options.launch, {LaunchMode::per_node, LaunchMode::per_gpu}, spec.launch);
  set_word(options.env_style, {EnvStyle::hai, EnvStyle::torch, EnvStyle::slurm}, spec.env_style);
  if (options.restart_on_failure || options.restart_max) spec.restart.on_failure = true;
  if (options.restart_max) spec.restart.max = *options.restart_max;
  return ok();
}

std::string unique_name(const std::string& stem) {
  std::string name;
  for (const char c : stem) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    name += plain ? c : '-';
  }
  name = name.substr(0, 40);
  return (name.empty() ? "job" : name) + "-" + random_word(6);
}

namespace {

std::string submitted_line(const v1::SubmitJobReply& reply) {
  return fmt::format("job {} submitted: {}", reply.job_id(), reply.name());
}

}  // namespace

int submit(Session& session, const SubmissionOptions& options, JobSpec spec, const JobFile* file) {
  if (const std::vector<SpecError> errors = check_job_spec(spec); !errors.empty()) {
    for (const SpecError& error : errors) say(to_string(error));
    return kUsage;
  }
  if (options.dry_run) {
    print(format_job_spec_yaml(spec));
    return kOk;
  }
  if (!options.terminal.empty()) {
    const Status status = make_interactive(spec, options.terminal);
    if (!status.is_ok()) return session.usage_error(status.message());
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::SubmitJobRequest request;
  *request.mutable_spec() = to_proto(spec);
  request.set_request_id(new_request_id());
  const Result<v1::SubmitJobReply> reply = client.value()->submit_job(request);
  if (!reply.is_ok()) {
    const int code = session.fail(file == nullptr ? reply.status() : file->locate(reply.status()));
    return code == kNotFound ? kRefused : code;  // What is not found is something the job names.
  }
  if (options.terminal.empty()) {
    return tell_submitted(session, *client.value(), reply.value(), options.output, options.follow);
  }
  say(submitted_line(reply.value()));
  return follow_terminal(session, *client.value(), reply.value().job_id(), options.terminal);
}

std::string new_request_id() { return random_word(20); }

int tell_submitted(Session& session, Client& client, const v1::SubmitJobReply& reply,
                   OutputFormat output, bool is_followed) {
  const int64_t id = reply.job_id();
  const std::string line = submitted_line(reply);
  if (is_json(output)) {
    print(format_json({{"id", id}, {"name", reply.name()}}, output));
  } else if (is_followed) {
    say(line);
  } else {
    print(line + "\n");
    say(fmt::format("next: hai status {0}, hai logs -f {0}, hai why {0}, hai stop {0}", id));
  }
  return is_followed ? follow(session, client, id) : kOk;
}

}  // namespace hai::cli
