#include "agent/os/os_rank_host.h"
#include "agent/os/os_rank.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "agent/os/helper_program.h"
#include "agent/os/rank_directory.h"
#include "agent/os/shim_process.h"
#include "agent/os/status_json.h"
#include "common/boot_clock.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/log_messages.h"

namespace hai {

namespace {

constexpr Duration kRetryMin = 10ms;
constexpr Duration kRetryMax = 1s;
constexpr Duration kTidyInterval = 60s;

Status make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return internal("cannot make directory {}: {}", path, errno_text(errno));
  }
  if (::chmod(path.c_str(), mode) != 0) {  // whatever the umask
    return internal("cannot set the mode of {}: {}", path, errno_text(errno));
  }
  return ok();
}

// A short directory for the sockets of a rank whose own is too deep.
Result<std::string> make_socket_directory() {
  const char* runtime = ::geteuid() == 0 ? nullptr : ::getenv("XDG_RUNTIME_DIR");
  std::string path = std::string(runtime != nullptr ? runtime : "/tmp") + "/hai-XXXXXX";
  if (!fits_sockets(path)) path = "/tmp/hai-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return internal("cannot make {}: {}", path, errno_text(errno));
  RETURN_IF_ERROR(make_directory(path, 0711));
  return path;
}

std::string cgroup_prefix(const std::string& data_dir) { return Digest().add(data_dir).hex(); }

}  // namespace

Result<std::unique_ptr<OsRankHost>> OsRankHost::open(OsRankHostOptions options, Loop& loop,
                                                     boost::asio::io_context& context) {
  if (!options.data_dir.starts_with('/')) {
    return invalid_argument("data directory {} is not an absolute path", options.data_dir);
  }
  if (options.shim_path.empty()) options.shim_path = default_shim_path();
  std::error_code error;
  std::filesystem::create_directories(options.data_dir, error);
  if (error) return internal("cannot make directory {}: {}", options.data_dir, error.message());
  // Users pass through to their own rank's directory, and see no other.
  RETURN_IF_ERROR(make_directory(ranks_root(options.data_dir), 0711));
  RETURN_IF_ERROR(make_directory(logs_root(options.data_dir), 0711));
  Result<UniqueFd> lock = lock_file(ranks_root(options.data_dir) + "/lock");
  if (!lock.is_ok()) {
    if (lock.status().code() != Code::failed_precondition) return lock.status();
    return failed_precondition("another agent uses the data directory {}", options.data_dir);
  }
  return std::unique_ptr<OsRankHost>(
      new OsRankHost(std::move(options), std::move(lock).value(), loop, context));
}

OsRankHost::OsRankHost(OsRankHostOptions options, UniqueFd lock, Loop& loop,
                       boost::asio::io_context& context)
    : options_(std::move(options)),
      lock_(std::move(lock)),
      loop_(loop),
      context_(context),
      trash_(loop, ranks_root(options_.data_dir) + "/trash"),
      cgroups_(options_.use_cgroups ? find_cgroup_mounts() : CgroupMounts{}, options_.cgroup_parent,
               cgroup_prefix(options_.data_dir)),
      powers_(find_powers(cgroups_)) {
  say_what_is_missing();
  hang_watch_ = std::make_unique<HangWatch>(
      loop_,
      [this](const RankKey& key) {
        const auto found = ranks_.find(key);
        if (found == ranks_.end() || !options_.sample_activity) {
          return ActivitySample{.at = loop_.now()};
        }
        return options_.sample_activity(in_use(*found->second));
      },
      [this](const RankKey& key) {
        const auto found = ranks_.find(key);
        if (found != ranks_.end()) notify(found->second->status);
      });
}

OsRankHost::~OsRankHost() = default;

void OsRankHost::say_what_is_missing() const {
  const std::string_view isolation = to_string(options_.confinement.isolation);
  for (const std::string& what : missing_confinement(options_.confinement, powers_)) {
    log_warning("ranks_confined_less", {{"isolation", isolation}, {"because", what}});
  }
}

void OsRankHost::set_listener(Listener listener) { listener_ = std::move(listener); }

bool OsRankHost::is_live(const RankKey& key) const {
  const auto found = ranks_.find(writer_of_log(key));
  return found != ranks_.end() && !found->second->is_exited();
}

// ---- adopting ----

std::vector<RankStatus> OsRankHost::adopt() {
  std::vector<std::string> kept;
  std::error_code error;
  std::filesystem::directory_iterator entry(ranks_root(options_.data_dir), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::optional<RankKey> key = parse_rank_key(name);
    if (!key || ranks_.contains(*key)) continue;
    if (adopt_one(*key) && is_live(*key)) kept.push_back(name);
  }
  cgroups_.remove_others(kept);
  std::vector<RankStatus> statuses;
  for (const auto& [key, rank] : ranks_) {
    statuses.push_back(rank->status);
    statuses.back().proof = rank->proof;
  }
  return statuses;
}

bool OsRankHost::adopt_one(const RankKey& key) {
  auto rank = std::make_unique<Rank>();
  rank->directory = rank_directory(options_.data_dir, key);
  rank->status.key = key;
  const bool is_alive = is_shim_alive(rank->directory);
  const Result<std::string> text = read_file(rank->directory.launch_file(), kLaunchFileBytesMax);
  const Result<LaunchFile> launch =
      text.is_ok() ? launch_file_from_json(text.value()) : text.status();
  if (!launch.is_ok()) {
    // Where there is none the rank was being forgotten, and its shim ends with its directory.
    if (is_alive && launch.status().code() != Code::not_found) {
      // Of a rank that runs: it is damaged, or cannot be read now. The rank is ended, by its groups
      // or the environment of its processes, as nobody could end it later.
      log_error("rank_without_its_launch_file", {{"rank", key}, {"why", launch.status()}});
      kill_shim(rank->directory);
      rank->why_lost =
          fmt::format("was ended: hai-agent came back and could not read what it had launched ({})",
                      launch.status().message());
      rank->socket_dir = rank->directory.path;
      ranks_.emplace(key, std::move(rank));
      after(kRetryMin, [this, key] { end_leftovers(key, kRetryMin); });
      return false;
    }
    // It never got as far as being started, or was being forgotten.
    log_warning("rank_directory_dropped", {{"rank", key}, {"why", launch.status()}});
    trash_.take(rank->directory.path);
    return false;
  }
  rank->socket_dir = launch.value().socket_dir;
  remember_use(*rank, launch.value());
  rank->cgroups = launch.value().cgroups;
  if (const Result<std::string> json =
          read_file(rank->directory.status_file(), kStatusLineBytesMax);
      json.is_ok()) {
    if (const Result<RankStatus> status = status_from_json(json.value()); status.is_ok()) {
      rank->status = status.value();
      if (rank->is_exited()) take_measurements(*rank);
    }
  }
  Rank& adopted = *ranks_.emplace(key, std::move(rank)).first->second;
  if (adopted.is_exited()) return true;
  if (is_alive) {
    connect(adopted);
    return true;
  }
  if (kill_leftovers({job_socket(adopted.socket_dir), adopted.cgroups})) {
    exit_without_shim(adopted, ExitCause::lost,
                      "its hai-shim is gone: the node was rebooted, or it was killed");
    return true;
  }
  after(kRetryMin, [this, key] { end_leftovers(key, kRetryMin); });
  return true;
}

// ---- launching ----

void OsRankHost::launch(const LaunchRank& order, MonoTime lease_until) {
  if (ranks_.contains(order.key)) return;
  Rank& rank = *ranks_.emplace(order.key, std::make_unique<Rank>()).first->second;
  rank.directory = rank_directory(options_.data_dir, order.key);
  rank.status.key = order.key;
  rank.status.started_at = loop_.wall_now();
  const Status prepared = prepare(order, lease_until, rank);
  if (prepared.is_ok()) return connect(rank);
  remove_cgroups(rank.cgroups);
  // What the job asks for can't be done anywhere; all else is this node's own trouble.
  const bool is_of_the_job = prepared.code() == Code::invalid_argument;
  exit_without_shim(rank, is_of_the_job ? ExitCause::launch_failed : ExitCause::lost,
                    prepared.message());
  after(0s, [this, status = rank.status] { notify(status); });
}

Status OsRankHost::prepare(const LaunchRank& asked, MonoTime lease_until, Rank& rank) {
  Result<LaunchRank> wanted =
      asked.is_validation ? as_validation(asked, rank.directory) : Result<LaunchRank>(asked);
  if (!wanted.is_ok()) return wanted.status();
  const LaunchRank& order = wanted.value();
  LocalPaths paths;
  RETURN_IF_ERROR(make_directories(rank, paths));
  paths.python_dir = options_.python_dir;
  // In an image its own hold.
  if (order.image.empty()) paths.base = {{"PATH", kDefaultPath}, {"LANG", "C.UTF-8"}};
  for (const auto& [name, value] : options_.base_environment) paths.base[name] = value;
  paths.base.merge(variables_of_places(options_.node.gpu_places, order.gpus));

  Result<LaunchFile> made = make_launch_file(order, paths);
  if (!made.is_ok()) return made.status();
  LaunchFile& launch = made.value();
  remember_use(rank, launch);
  launch.socket_dir = rank.socket_dir;
  const ConfinementSettings settings = confinement_of(order);
  const CgroupLimits limits = rank_limits(order, settings, options_.node);
  RankCgroups groups = cgroups_.create(to_string(order.key), limits);
  rank.cgroups = launch.cgroups = std::move(groups.directories);
  RETURN_IF_ERROR(check_groups(groups, limits, powers_));
  launch.confinement = rank_confinement(launch, settings, powers_, options_.python_dir);
  launch.confinement.counts_gpus_from_zero =
      groups.filters_devices && !options_.node.gpu_minors.empty();
  launch.images = options_.images;
  launch.images.mounts.push_back(options_.python_dir);
  // What runs the scripts of Slurm's commands there (cli/slurm/in_image/main.cpp).
  launch.images.mounts.push_back(helper_program("in-image"));
  if (!launch.image.empty()) {
    launch.confinement.has_own_mounts = launch.confinement.drops_privileges && powers_.mounts;
    if (!launch.confinement.has_own_mounts) {
      return invalid_argument(
          "this node runs no container images: its hai-agent must be root, without isolation: "
          "none");
    }
  }
  launch.cpus = near_cpus(options_.node.gpu_places, order.gpus, order.cpus);
  launch.unknown_user_runs_as_self = options_.unknown_user_runs_as_self;
  launch.lease_until = to_boot_time(lease_until);
  launch.log_limits = options_.log_limits;
  RETURN_IF_ERROR(write_file_atomic(rank.directory.launch_file(), launch_file_to_json(launch), 0600,
                                    Durability::survives_crash_of_program));
  if (options_.log_begins) options_.log_begins(asked.key, asked.user);
  const Result<pid_t> started =
      start_shim(options_.shim_path, rank.directory, control_socket(rank.socket_dir));
  if (!started.is_ok()) return started.status();
  rank.shim = started.value();
  return ok();
}

Status OsRankHost::make_directories(Rank& rank, LocalPaths& paths) {
  RETURN_IF_ERROR(make_directory(rank.directory.path, 0711));
  rank.socket_dir = rank.directory.path;
  if (!fits_sockets(rank.socket_dir)) {
    Result<std::string> made = make_socket_directory();
    if (!made.is_ok()) return made.status();
    rank.socket_dir = std::move(made).value();
  }
  paths.log_dir = log_directory(options_.data_dir, rank.status.key);
  // A launch goes on with no log: this one is of a database before this one, perhaps another
  // user's.
  std::error_code error;
  std::filesystem::remove_all(paths.log_dir, error);
  if (!error && rank.status.key.rank == 0)
    std::filesystem::remove_all(step_record_directory(paths.log_dir, rank.status.key), error);
  if (error) return unavailable("{}: {}", paths.log_dir, error.message());
  RETURN_IF_ERROR(make_directory(paths.log_dir, 0750));
  paths.socket = job_socket(rank.socket_dir);
  paths.temp_dir = rank.socket_dir + "/tmp";  // Short as well: programs make sockets in it.
  return ok();
}

void OsRankHost::connect(Rank& rank) {
  const RankKey key = rank.status.key;
  rank.link = std::make_unique<ShimLink>(
      context_, rank.directory, control_socket(rank.socket_dir),
      ShimListener{.connected = [this, key] { say_what_shall_be(*ranks_.at(key)); },
                   .status = [this, key](const RankStatus& status) { take_status(key, status); },
                   .gone = [this, key] { shim_gone(key); }});
}

// ---- orders ----

void OsRankHost::say_what_shall_be(Rank& rank) {
  if (!rank.link) return;
  if (lease_until_) {
    rank.link->send(fmt::format(R"({{"op":"lease","until_boottime_us":{}}})",
                                lease_until_->time_since_epoch().count()));
  }
  if (rank.wish == Rank::Wish::suspended) {
    const Duration left = std::max(Duration(0), rank.suspend_deadline - boot_now());
    rank.link->send(fmt::format(R"({{"op":"suspend","grace_us":{},"tell_by_signal":{}}})",
                                left.count(), rank.tell_by_signal));
  }
  if (rank.wish == Rank::Wish::goes_on) rank.link->send(R"({"op":"continue"})");
  if (rank.kill_wished) rank.link->send(R"({"op":"kill"})");
}

void OsRankHost::suspend(const SuspendRank& order) {
  const auto found = ranks_.find(order.key);
  if (found == ranks_.end() || found->second->is_exited()) return;
  Rank& rank = *found->second;
  if (rank.wish == Rank::Wish::suspended) return;
  rank.wish = Rank::Wish::suspended;
  rank.suspend_deadline = boot_now() + order.grace;
  rank.tell_by_signal = order.tell_by_signal;
  say_what_shall_be(rank);
}

void OsRankHost::resume(const RankKey& key) {
  const auto found = ranks_.find(key);
  if (found == ranks_.end() || found->second->is_exited()) return;
  found->second->wish = Rank::Wish::goes_on;
  say_what_shall_be(*found->second);
}

void OsRankHost::kill(const RankKey& key) {
  const auto found = ranks_.find(key);
  if (found == ranks_.end() || found->second->is_exited() || found->second->kill_wished) return;
  found->second->kill_wished = true;
  say_what_shall_be(*found->second);
}

void OsRankHost::extend_leases(MonoTime until) {
  lease_until_ = to_boot_time(until);
  for (const auto& [key, rank] : ranks_) {
    if (!rank->is_exited()) say_what_shall_be(*rank);
  }
}

void OsRankHost::forget(const RankKey& key) {
  const auto found = ranks_.find(key);
  if (found == ranks_.end() || !found->second->is_exited()) return;
  const Rank& rank = *found->second;
  // First, so that what is left of the directory by a crash is nothing to adopt.
  ::unlink(rank.directory.launch_file().c_str());
  remove_cgroups(rank.cgroups);
  if (rank.socket_dir != rank.directory.path) trash_.take_elsewhere(rank.socket_dir);
  trash_.take(rank.directory.path);
  ranks_.erase(found);
  tidy_logs();
}

// ---- what shims say ----

void OsRankHost::take_status(const RankKey& key, const RankStatus& status) {
  Rank& rank = *ranks_.at(key);
  if (rank.is_exited() || status.key != key || status == rank.status) return;
  rank.status = status;
  if (rank.is_exited()) {
    take_measurements(rank);
    if (!rank.evidence.empty()) {
      rank.status.message += (rank.status.message.empty() ? "" : "; ") + rank.evidence;
    }
    rank.link.reset();
    reap(rank.shim, kRetryMin);
  }
  notify(rank.status);
}

void OsRankHost::shim_gone(const RankKey& key) {
  Rank& rank = *ranks_.at(key);
  rank.link.reset();
  reap(rank.shim, kRetryMin);
  const Result<std::string> json = read_file(rank.directory.status_file(), kStatusLineBytesMax);
  if (json.is_ok()) {
    const Result<RankStatus> status = status_from_json(json.value());
    if (status.is_ok()) take_status(key, status.value());
  }
  if (!rank.is_exited()) end_leftovers(key, kRetryMin);
}

// A rank whose shim died is gone only when no process of it is left: until then its node is not
// free.
void OsRankHost::end_leftovers(const RankKey& key, Duration retry_after) {
  const auto found = ranks_.find(key);
  if (found == ranks_.end() || found->second->is_exited()) return;
  Rank& rank = *found->second;
  if (!kill_leftovers({job_socket(rank.socket_dir), rank.cgroups})) {
    const Duration next = std::min(retry_after * 2, kRetryMax);
    return after(retry_after, [this, key, next] { end_leftovers(key, next); });
  }
  remove_cgroups(rank.cgroups);
  const std::string complaint = shim_complaint(rank.directory);
  if (!rank.why_lost.empty()) {
    exit_without_shim(rank, ExitCause::lost, rank.why_lost);
  } else if (rank.status.phase == RankPhase::starting && !complaint.empty()) {
    exit_without_shim(rank, ExitCause::lost, "hai-shim gave up: " + complaint);
  } else {
    exit_without_shim(rank, ExitCause::lost, "its hai-shim died unexpectedly");
  }
  notify(rank.status);
}

void OsRankHost::exit_without_shim(Rank& rank, ExitCause cause, std::string message) {
  rank.status.phase = RankPhase::exited;
  rank.status.cause = cause;
  rank.status.message = std::move(message);
  rank.status.ended_at = loop_.wall_now();
  const Status written =
      write_file_atomic(rank.directory.status_file(), status_to_json(rank.status), 0600,
                        Durability::survives_crash_of_machine);
  if (!written.is_ok())
    log_warning("rank_status_not_written", {{"rank", rank.status.key}, {"error", written}});
  log_info(
      "rank_ended_without_shim",
      {{"rank", rank.status.key}, {"cause", to_string(cause)}, {"message", rank.status.message}});
}

void OsRankHost::notify(RankStatus status) {
  const auto found = ranks_.find(status.key);
  hang_watch_->follow(status, found == ranks_.end() ? Duration(0) : found->second->watchdog);
  hang_watch_->complete(status);
  if (listener_) listener_(status);
}

// ---- cleaning up ----

void OsRankHost::reap(pid_t pid, Duration retry_after) {
  if (pid <= 0 || ::waitpid(pid, nullptr, WNOHANG) != 0) return;
  const Duration next = std::min(retry_after * 2, kRetryMax);
  after(retry_after, [this, pid, next] { reap(pid, next); });
}

void OsRankHost::tidy_logs() {
  const MonoTime now = loop_.now();
  if (logs_tidied_at_ && now < *logs_tidied_at_ + kTidyInterval) return;
  logs_tidied_at_ = now;
  std::set<RankKey> in_use;
  for (const auto& [key, rank] : ranks_) {
    in_use.insert(key);
    if (key.rank == 0) in_use.insert(step_record_of(key));
  }
  const int deleted =
      delete_old_logs(logs_root(options_.data_dir), in_use, options_.log_keep_limits);
  if (deleted > 0) log_info("old_logs_deleted", {{"count", deleted}});
}

MonoTime OsRankHost::to_boot_time(MonoTime loop_time) const {
  constexpr Duration kFar = 24h * 365 * 10;  // keeps the sum far from overflow
  const MonoTime now = loop_.now();
  if (loop_time > now && loop_time.time_since_epoch() - now.time_since_epoch() > kFar)
    return boot_now() + kFar;
  return boot_now() + (loop_time - now);
}

void OsRankHost::after(Duration delay, std::function<void()> action) {
  loop_.call_after(delay, scope_.bind(std::move(action)));
}

}  // namespace hai
