#pragma once
// The RankHost of production: one directory and one hai-shim per rank (agent/shim). What it knows
// it has from the shims and from disk, so that a new agent process goes on where the last one
// ended. Loop thread only.
//
//   launch ──▶ shim starts ──status──▶ … ──status(exited)──▶ kept until forget()
//                   └──dies──▶ leftovers are killed ──▶ exited, lost

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/environment.h"
#include "agent/core/ports.h"
#include "agent/os/cgroup.h"
#include "agent/os/files.h"
#include "agent/os/hang_watch.h"
#include "agent/os/launch_file.h"
#include "agent/os/log_janitor.h"
#include "agent/os/rank_confinement.h"
#include "agent/os/rank_leftovers.h"
#include "agent/os/shim_link.h"
#include "agent/os/trash.h"
#include "common/loop_scope.h"

namespace hai {

// A live rank as the machine sees it.
struct RankInUse {
  pid_t shim = 0;  // all its processes are below it; 0 = not known yet
  GpuSet gpus;
  bool is_distributed = false;  // its job has several nodes
  std::vector<std::string> cgroups;
};

struct OsRankHostOptions {
  std::string data_dir;   // absolute; ours alone
  std::string shim_path;  // "" = default_shim_path()
  bool unknown_user_runs_as_self = false;
  bool use_cgroups = true;
  ConfinementSettings confinement;
  ImageSettings images;
  NodeShape node;
  std::string cgroup_parent = "hai";
  LogLimits log_limits;
  LogKeepLimits log_keep_limits;
  std::string python_dir;         // see LocalPaths
  std::string validator_path;     // "" = hai-validator beside the shim
  std::string validator_options;  // after what the server asks for
  // Told before a rank starts whose log it is that begins.
  std::function<void(const RankKey&, const std::string& user)> log_begins;
  // Looks at what a rank does now; without it only silence tells of a hang.
  std::function<ActivitySample(const RankInUse&)> sample_activity;
  // Looks where its processes are; `done` gets a sentence and all of it, at most after a minute.
  using EvidenceDone = std::function<void(const std::string& summary, const std::string& text)>;
  std::function<void(const RankInUse&, EvidenceDone done)> take_evidence;
  Environment base_environment;  // over a default PATH and LANG
};

class OsRankHost final : public RankHost {
 public:
  // Makes the data directory. failed_precondition if another agent uses it.
  static Result<std::unique_ptr<OsRankHost>> open(OsRankHostOptions options, Loop& loop,
                                                  boost::asio::io_context& context);
  ~OsRankHost() override;  // leaves ranks and shims running

  std::vector<RankStatus> adopt() override;
  void launch(const LaunchRank& order, MonoTime lease_until) override;
  void suspend(const SuspendRank& order) override;
  void resume(const RankKey& key) override;
  void kill(const RankKey& key) override;
  void kill_with_evidence(const RankKey& key) override;
  void forget(const RankKey& key) override;
  void extend_leases(MonoTime until) override;
  void set_listener(Listener listener) override;

  std::vector<RankInUse> ranks_in_use() const;

  // Whether this log may still be written to.
  bool is_live(const RankKey& key) const;

 private:
  struct Rank;

  OsRankHost(OsRankHostOptions options, UniqueFd lock, Loop& loop,
             boost::asio::io_context& context);
  static void remember_use(Rank& rank, const LaunchFile& launch);
  static void take_measurements(Rank& rank);
  static void write_log(Rank& rank, std::string_view text);
  Status prepare(const LaunchRank& asked, MonoTime lease_until, Rank& rank);
  Status make_directories(Rank& rank, LocalPaths& paths);
  // Whether its control groups are known, and may stay.
  bool adopt_one(const RankKey& key);
  Result<LaunchRank> as_validation(LaunchRank order, const RankDirectory& directory) const;
  ConfinementSettings confinement_of(const LaunchRank& order) const;
  RankInUse in_use(const Rank& rank) const;
  void connect(Rank& rank);
  void say_what_shall_be(Rank& rank);
  void take_status(const RankKey& key, const RankStatus& status);
  void shim_gone(const RankKey& key);
  void end_leftovers(const RankKey& key, Duration retry_after);
  void exit_without_shim(Rank& rank, ExitCause cause, std::string message);
  void notify(RankStatus status);
  void reap(pid_t pid, Duration retry_after);
  void tidy_logs();
  MonoTime to_boot_time(MonoTime loop_time) const;
  void after(Duration delay, std::function<void()> action);

  void say_what_is_missing() const;

  const OsRankHostOptions options_;
  UniqueFd lock_;
  Loop& loop_;
  boost::asio::io_context& context_;
  Trash trash_;
  CgroupHost cgroups_;
  const Powers powers_;
  std::map<RankKey, std::unique_ptr<Rank>> ranks_;
  Listener listener_;
  std::unique_ptr<HangWatch> hang_watch_;
  std::optional<MonoTime> lease_until_;  // boot time
  std::optional<MonoTime> logs_tidied_at_;
  LoopScope scope_;
};

}  // namespace hai
